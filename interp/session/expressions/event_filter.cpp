#include "interp/session/expressions/event_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hostir/support/characters.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "hostir/text/parse/cursor.h"

namespace hostir::interp {

namespace {

using ExprKind = Expression::Kind;

tl::unexpected<Error> bad(std::string_view word, std::string_view expected) {
  return fail(ErrorKind::kUsage, "event_filter", fmt::format("\"{}\": {}", word, expected));
}

// ---- the fields

struct EventAt {
  const LogView& log;
  const LogEvent& event;
  // An imported event may have no instruction.
  const LogInstruction& instruction() const {
    static const LogInstruction kNone;
    const auto& all = log.instructions();
    return event.instruction < all.size() ? all[event.instruction] : kNone;
  }
};

ExpressionValue known_ns(int64_t ns) {
  if (ns == kUnknownNs) return std::nan("");
  return ns;
}

ExpressionValue duration(const EventAt& at) {
  const int64_t begin = at.event.begin_ns();
  const int64_t end = at.event.end_ns();
  return known_ns(begin == kUnknownNs || end == kUnknownNs ? kUnknownNs : end - begin);
}

ExpressionValue stream_of(const EventAt& at) {
  for (const LogTrack& track : at.log.tracks()) {
    if (track.stream == at.event.stream) return track.name;
  }
  return std::string();
}

std::string class_name(OpClass op_class) {
  return op_class == OpClass::kCommunication ? "comm"
         : op_class == OpClass::kHost        ? "host"
                                             : "compute";
}

struct EventField {
  Environment::Field declared;
  ExpressionValue (*value)(const EventAt&);
};
constexpr NameType kOfEvent{NameType::Values::kNumbers, false};
constexpr NameType kTextOfEvent{NameType::Values::kTexts, false};
constexpr NameType kTextOfInstruction{NameType::Values::kTexts, true};
using V = ExpressionValue;
constexpr EventField kEventFields[] = {
    {{"rank", kOfEvent}, [](const EventAt& a) -> V { return int64_t{a.event.rank}; }},
    {{"op", kTextOfInstruction}, [](const EventAt& a) -> V { return a.instruction().mnemonic; }},
    {{"kernel", kTextOfInstruction}, [](const EventAt& a) -> V { return a.instruction().kernel; }},
    {{"address", kTextOfInstruction},
     [](const EventAt& a) -> V { return a.instruction().address; }},
    {{"class", kTextOfInstruction},
     [](const EventAt& a) -> V { return class_name(a.instruction().op_class); }},
    {{"text", kTextOfInstruction}, [](const EventAt& a) -> V { return a.instruction().text; }},
    {{"stream", kTextOfEvent}, stream_of},
    {{"undone", kTextOfEvent},
     [](const EventAt& a) -> V { return std::string(a.log.shows(a.event.id) ? "no" : "yes"); }},
    {{"time", kOfEvent}, [](const EventAt& a) -> V { return known_ns(a.event.begin_ns()); }},
    {{"dur", kOfEvent}, duration},
    {{"wait", kOfEvent}, [](const EventAt& a) -> V { return known_ns(a.event.waited_ns); }},
    {{"bytes", kOfEvent}, [](const EventAt& a) -> V { return a.event.bytes; }},
    {{"id", kOfEvent}, [](const EventAt& a) -> V { return a.event.id; }},
};

Expected<NameType> check_filter(const Expression& condition) {
  static const auto kDeclared = [] {
    std::vector<Environment::Field> out;
    for (const EventField& f : kEventFields) out.push_back(f.declared);
    return out;
  }();
  return check(condition, {kDeclared, [](const Expression& e) -> Expected<NameType> {
                             return fail(
                                 ErrorKind::kUsage, "condition",
                                 fmt::format("a log's events have no values of {}", to_string(e)));
                           }});
}

bool holds_at(const Expression& condition, const EventAt& at) {
  const auto result = holds(
      condition,
      [&at](const Expression& leaf, const std::vector<SliceRange>&) -> Expected<ExpressionValue> {
        for (const EventField& f : kEventFields) {
          if (f.declared.name == leaf.text) return f.value(at);
        }
        return leaf.text;  // a bare word
      });
  return result && *result;
}

std::vector<char> by_instruction(const Expression& condition, const LogView& log) {
  std::vector<char> out;
  LogEvent event;
  for (; event.instruction < log.instructions().size(); ++event.instruction)
    out.push_back(holds_at(condition, {log, event}) ? 1 : 0);
  return out;
}

// ---- words

// A comma-separated list as members of `in {}`.
std::string texts(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view word : split(list, ',')) out.push_back(text::quoted(word));
  return fmt::format("{}", fmt::join(out, ", "));
}

// A word with `=` as an expression, and the error message if it is not one.
struct LongForm {
  std::string expression;
  std::string_view expected;
  bool must_select = false;  // an instruction
};
Expected<LongForm> equals_form(std::string_view word, std::string_view key, std::string_view value,
                               const LogView& log) {
  if (key == "rank")
    return LongForm{fmt::format("rank in {{{}}}", value), "write rank=3, rank=0,2 or rank=2..5"};
  if (key == "op")
    return LongForm{
        fmt::format("op in {{{0}}} || kernel != \"\" && kernel in {{{0}}}", texts(value)),
        "no instruction of this program has this name", true};
  if (key == "at")
    return LongForm{fmt::format("address in {{{}}}", texts(value)),
                    "no instruction has this address; write at=@f#9", true};
  LongForm out{fmt::format("{} in {{{}}}", key, texts(value)), ""};
  if (key == "class") {
    if (value != "comm" && value != "host") return bad(word, "write class=comm or class=host");
    return out;
  }
  if (key == "undone") {
    if (value != "yes" && value != "no") return bad(word, "write undone=no or undone=yes");
    return out;
  }
  if (key == "stream") {
    const std::vector<std::string_view> names = split(value, ',');
    const bool known = std::any_of(log.tracks().begin(), log.tracks().end(),
                                   [&](const auto& t) { return contains(names, t.name); });
    if (!known) return bad(word, "no stream has this name");
    return out;
  }
  return bad(
      word, "expected rank= op= at= class= stream= undone= and time bytes wait dur id with < or >");
}

// True if `text` has the name as a whole; names go on after a dot, as in `%v.3`.
bool has_name(std::string_view text, std::string_view name) {
  const auto in_name = [&](size_t at) { return at < text.size() && is_word_char(text[at]); };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool dotted = end < text.size() && text[end] == '.' && in_name(end + 1);
    if (!in_name(end) && !dotted) return true;
  }
  return false;
}

// The instructions that have the name `%y` or `@f`, so that it does not find `%y_product` beside
// them. Empty: nothing has this name.
std::vector<std::string> addresses_with(std::string_view name, const LogView& log) {
  std::vector<std::string> out;
  if (name.size() < 2 || (name[0] != '%' && name[0] != '@')) return out;
  for (const LogInstruction& i : log.instructions()) {
    if (!i.address.empty() && has_name(i.text, name)) out.push_back(text::quoted(i.address));
  }
  return out;
}

Expected<LongForm> long_form(std::string_view word, const LogView& log) {
  const size_t at = word.find_first_of("<>=");
  if (const auto named = addresses_with(word, log); !named.empty())
    return LongForm{fmt::format("address in {{{}}}", fmt::join(named, ", ")), ""};
  if (at == std::string_view::npos)
    return LongForm{fmt::format("text contains {0} || op contains {0}", text::quoted(word)), ""};
  const std::string_view key = word.substr(0, at);
  if (word[at] == '=') return equals_form(word, key, word.substr(at + 1), log);
  const bool number =
      std::any_of(std::begin(kEventFields), std::end(kEventFields), [&](const EventField& f) {
        return f.declared.name == key && f.declared.type.values == NameType::Values::kNumbers;
      });
  if (!number) return bad(word, "time, bytes, wait, dur, id and rank can be compared");
  return LongForm{std::string(word), "a number follows < or >: 100, 2.5us, 3ms, 4K, 1M"};
}

Expected<void> add_word(std::string_view word, EventQuery& query, const LogView& log) {
  const bool negated = word[0] == '-' && word.size() > 1;
  if (negated || word[0] == '+') word.remove_prefix(1);
  if (word.empty()) return {};
  HOSTIR_ASSIGN_OR_RETURN(const LongForm form, long_form(word, log));
  auto condition = parse_expression(form.expression);
  if (!condition || !check_filter(*condition)) return bad(word, form.expected);
  if (form.must_select) {
    const std::vector<char> selected = by_instruction(*condition, log);
    if (!contains(selected, 1)) return bad(word, form.expected);
  }
  if (!negated) return query.add(std::move(*condition));
  Expression inverted;
  inverted.kind = ExprKind::kNot;
  inverted.args.push_back(std::move(*condition));
  return query.add(std::move(inverted));
}

// Skips whole blocks of events before a time or an id without unpacking them.
void narrow(const Expression& condition, EventFilter& filter) {
  const bool above = condition.kind == ExprKind::kGt || condition.kind == ExprKind::kGe;
  if (!above || condition.args[1].kind != ExprKind::kConst) return;
  const auto* limit = std::get_if<int64_t>(&condition.args[1].constant);
  if (!limit || condition.args[0].kind != ExprKind::kField) return;
  if (condition.args[0].text == "time") filter.from_ns = std::max(filter.from_ns, *limit);
  if (condition.args[0].text == "id") filter.first_id = std::max(filter.first_id, *limit);
}

// True if the text contains an operator, which a list of words does not.
bool is_expression(std::string_view text) {
  constexpr std::string_view kSigns[] = {"==", "!=", "=~", "&&", "||", " in {", " < ", " > "};
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

}  // namespace

bool EventQuery::holds(const LogEvent& event) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) {
    if (c.by_instruction.empty()) return holds_at(c.expression, {*log_, event});
    return event.instruction < c.by_instruction.size() && c.by_instruction[event.instruction] != 0;
  });
}

Expected<void> EventQuery::add(Expression condition) {
  if (condition.kind == ExprKind::kAnd) {
    for (Expression& part : condition.args) HOSTIR_TRY(add(std::move(part)));
    return {};
  }
  HOSTIR_ASSIGN_OR_RETURN(const NameType type, check_filter(condition));
  narrow(condition, filter);
  std::vector<char> selected;
  if (type.by_place) selected = by_instruction(condition, *log_);
  conditions_.push_back({std::move(condition), std::move(selected)});
  return {};
}

Expected<EventQuery> parse_event_filter(std::string_view text, const LogView& log) {
  EventQuery query(log);
  if (is_expression(text)) {
    HOSTIR_ASSIGN_OR_RETURN(Expression condition, parse_expression(text));
    HOSTIR_TRY(query.add(std::move(condition)));
    return query;
  }
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) HOSTIR_TRY(add_word(word, query, log));
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
      {"%y", "with this name; any other word: a part of the instruction's text"},
      {"undone=no", "without events that were undone and replaced"},
      {"-op=wait", "not"},
      {"rank < 2 && wait > 2us", "instead of words: a condition, as at breakpoints"},
  };
  return kHelp;
}

}  // namespace hostir::interp
