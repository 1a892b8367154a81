#include "interp/session/event_filter.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "hostir/support/text.h"

namespace hostir::interp {

namespace {

using Condition = std::function<bool(const LogEvent&)>;

tl::unexpected<Error> bad(std::string_view word, std::string_view expected) {
  return fail(ErrorKind::kUsage, "event_filter", fmt::format("\"{}\": {}", word, expected));
}

/// `12`, `1.5us`, `4M`; units of time and powers of 1024.
std::optional<int64_t> number_of(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<size_t>(text.data() + text.size() - rest));
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},          {"ns", 1},           {"us", 1e3},    {"ms", 1e6},        {"s", 1e9},
      {"B", 1},         {"K", 1024},         {"M", 1048576}, {"G", 1073741824.}, {"KiB", 1024},
      {"MiB", 1048576}, {"GiB", 1073741824.}};
  for (const auto& [name, factor] : kUnits) {
    if (unit == name && value * factor < 9e18 && value * factor > -9e18)
      return static_cast<int64_t>(value * factor);
  }
  return std::nullopt;
}

std::optional<std::vector<Rank>> ranks_of(std::string_view list) {
  constexpr int64_t kMaxRanks = 1 << 20;
  std::vector<Rank> ranks;
  for (const std::string_view part : split(list, ',')) {
    const size_t dots = part.find("..");
    const auto first = number_of(part.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number_of(part.substr(dots + 2));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxRanks) return std::nullopt;
    for (int64_t r = *first; r <= *last; ++r) ranks.push_back(static_cast<Rank>(r));
  }
  return ranks;
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The instructions that a predicate selects, sorted.
template <class Predicate>
std::vector<CodeIndex> instructions(const LogView& log, Predicate predicate) {
  std::vector<CodeIndex> out;
  for (size_t i = 0; i < log.instructions().size(); ++i) {
    if (predicate(log.instructions()[i])) out.push_back(static_cast<CodeIndex>(i));
  }
  return out;
}

Condition at_instruction(std::vector<CodeIndex> chosen) {
  return [chosen = std::move(chosen)](const LogEvent& e) {
    return std::binary_search(chosen.begin(), chosen.end(), e.instruction);
  };
}

// The condition of a word with `=`.
Expected<Condition> equals_condition(std::string_view word, std::string_view key,
                                     std::string_view value, const LogView& log) {
  const std::vector<std::string_view> values = split(value, ',');
  if (key == "rank") {
    const auto ranks = ranks_of(value);
    if (!ranks) return bad(word, "write rank=3, rank=0,2 or rank=2..5");
    return Condition([ranks = *ranks](const LogEvent& e) { return contains(ranks, e.rank); });
  }
  if (key == "op") {
    auto chosen = instructions(log, [&](const LogInstruction& i) {
      return contains<std::string_view>(values, i.mnemonic) ||
             (!i.kernel.empty() && contains<std::string_view>(values, i.kernel));
    });
    if (chosen.empty()) return bad(word, "no instruction of this program is called so");
    return at_instruction(std::move(chosen));
  }
  if (key == "at") {
    auto chosen = instructions(log, [&](const LogInstruction& i) {
      return contains<std::string_view>(values, i.address);
    });
    if (chosen.empty()) return bad(word, "no instruction has this address; write at=@f#9");
    return at_instruction(std::move(chosen));
  }
  if (key == "class") {
    OpClass wanted = OpClass::kHost;
    if (value == "comm") wanted = OpClass::kCommunication;
    if (value != "comm" && value != "host") return bad(word, "write class=comm or class=host");
    return at_instruction(
        instructions(log, [wanted](const LogInstruction& i) { return i.op_class == wanted; }));
  }
  if (key == "stream") {
    std::vector<int32_t> streams;
    for (const LogTrack& track : log.tracks()) {
      if (contains<std::string_view>(values, track.name)) streams.push_back(track.stream);
    }
    if (streams.empty()) return bad(word, "no stream is called so");
    return Condition([streams](const LogEvent& e) { return contains(streams, e.stream); });
  }
  if (key == "undone") {
    if (value != "yes" && value != "no") return bad(word, "write undone=no or undone=yes");
    return Condition(
        [&log, wanted = value == "yes"](const LogEvent& e) { return log.shows(e.id) != wanted; });
  }
  return bad(
      word,
      "known are rank= op= at= class= stream= undone= and time bytes wait dur id with < or >");
}

// `time>1us`: compares a field with a number.
Expected<Condition> compare_condition(std::string_view word, std::string_view key,
                                      std::string_view relation, std::string_view value) {
  const auto number = number_of(value);
  if (!number) return bad(word, "a number stands behind < or >: 100, 2.5us, 3ms, 4K, 1M");
  using Field = int64_t (*)(const LogEvent&);
  constexpr std::pair<std::string_view, Field> kFields[] = {
      {"time", [](const LogEvent& e) { return e.begin_ns(); }},
      {"bytes", [](const LogEvent& e) { return e.bytes; }},
      {"wait", [](const LogEvent& e) { return e.waited_ns; }},
      {"id", [](const LogEvent& e) { return e.id; }},
      {"dur",
       [](const LogEvent& e) {
         const bool known = e.begin_ns() != kUnknownNs && e.end_ns() != kUnknownNs;
         return known ? e.end_ns() - e.begin_ns() : kUnknownNs;
       }},
  };
  for (const auto& [name, field] : kFields) {
    if (key != name) continue;
    const bool greater = relation[0] == '>';
    const bool equal = relation.size() == 2;
    return Condition([field = field, greater, equal, limit = *number](const LogEvent& e) {
      const int64_t v = field(e);
      if (v == kUnknownNs) return false;
      return (equal && v == limit) || (greater ? v > limit : v < limit);
    });
  }
  return bad(word, "time, bytes, wait, dur and id can be compared");
}

Expected<Condition> condition_of(std::string_view word, const LogView& log) {
  const size_t at = word.find_first_of("<>=");
  if (at == std::string_view::npos) {
    auto chosen = instructions(log, [&](const LogInstruction& i) {
      return i.text.find(word) != std::string::npos || i.mnemonic.find(word) != std::string::npos;
    });
    return at_instruction(std::move(chosen));
  }
  const std::string_view key = word.substr(0, at);
  if (word[at] == '=') return equals_condition(word, key, word.substr(at + 1), log);
  const size_t length = at + 1 < word.size() && word[at + 1] == '=' ? 2 : 1;
  return compare_condition(word, key, word.substr(at, length), word.substr(at + length));
}

}  // namespace

bool EventQuery::all() const { return conditions.empty(); }

bool EventQuery::holds(const LogEvent& event) const {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c(event); });
}

Expected<EventQuery> parse_event_filter(std::string_view text, const LogView& log) {
  EventQuery query;
  for (std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool turned = word[0] == '-' && word.size() > 1;
    if (turned || word[0] == '+') word.remove_prefix(1);
    if (word.empty()) continue;
    HOSTIR_ASSIGN_OR_RETURN(Condition condition, condition_of(word, log));
    if (turned) {
      query.conditions.push_back([c = std::move(condition)](const LogEvent& e) { return !c(e); });
      continue;
    }
    // Skips whole blocks of events outside the time range or before the id without unpacking them.
    if (word.starts_with("time>")) {
      query.filter.from_ns = number_of(word.substr(word.find_first_not_of("time>="))).value_or(0);
    } else if (word.starts_with("id>")) {
      query.filter.first_id = number_of(word.substr(word.find_first_not_of("id>="))).value_or(0);
    }
    query.conditions.push_back(std::move(condition));
  }
  return query;
}

const std::vector<EventFilterHelp>& event_filter_help() {
  static const std::vector<EventFilterHelp> kHelp = {
      {"rank=0,2..5", "on these ranks"},
      {"op=all_reduce,launch", "these instructions, by mnemonic or kernel"},
      {"at=@f#9", "this instruction, by address"},
      {"class=comm", "communication; class=host: the rest"},
      {"stream=comm", "on this stream"},
      {"time>1ms time<2ms", "begins between; also id, dur, wait, bytes: dur>5us bytes>=1M"},
      {"%y", "any other word: a part of the instruction's text"},
      {"undone=no", "without what was gone back over and done otherwise"},
      {"-op=wait", "not"},
  };
  return kHelp;
}

}  // namespace hostir::interp
