// Parses one line into one Command. Each command's arguments have one small function.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "hostir/support/characters.h"
#include "interp/session/commands/command.h"
#include "interp/session/commands/command_table.h"
#include "interp/session/commands/place_parser.h"
#include "interp/session/expressions/expression_parser.h"
#include "interp/session/expressions/log_text.h"
#include "interp/session/expressions/watch_expr.h"

namespace hostir::interp {
namespace {

using K = CommandKind;

constexpr Rank kMaxListedRanks = 1 << 20;  // longer ranges are typing errors

struct TopicName {
  std::string_view name;
  InfoTopic topic;
};
constexpr TopicName kTopicNames[] = {
    {"ranks", InfoTopic::kRanks},      {"colls", InfoTopic::kColls},
    {"waits", InfoTopic::kWaits},      {"streams", InfoTopic::kStreams},
    {"events", InfoTopic::kEvents},    {"memory", InfoTopic::kMemory},
    {"break", InfoTopic::kBreak},      {"program", InfoTopic::kProgram},
    {"layout", InfoTopic::kLayout},    {"faults", InfoTopic::kFaults},
    {"history", InfoTopic::kHistory},  {"collectives", InfoTopic::kColls},
    {"breakpoints", InfoTopic::kBreak}};

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Expected<Command> command() {
    in_.skip_blanks();
    const size_t begin = in_.position();
    std::string_view word = command_word();
    if (word.empty()) return in_.error("expected a command", begin);
    const auto kind = find_command(word);
    if (!kind) return in_.error(kind.error().message(), begin);
    c_.kind = *kind;
    HOSTIR_TRY(arguments());
    if (!in_.at_end()) {
      return in_.error(fmt::format("unexpected text; the form is: {} {}", spec(c_.kind).name,
                                   spec(c_.kind).arguments));
    }
    return std::move(c_);
  }

 private:
  // `reverse-step` contains a '-'; `print/x` is followed by a format, `x/4` by a count.
  std::string_view command_word() {
    const size_t begin = in_.position();
    if (in_.peek() == '?') {
      in_.take("?");
      return "help";
    }
    while (!in_.word().empty()) {
      const size_t at = in_.position();
      if (at >= in_.line().size() || in_.line()[at] != '-') break;
      in_.rewind(at + 1);
    }
    const std::string_view word = in_.line().substr(begin, in_.position() - begin);
    if (in_.position() + 1 < in_.line().size() && in_.line()[in_.position()] == '/') {
      in_.rewind(in_.position() + 1);
      if (const auto count = in_.integer()) c_.numbers = {*count};
      const char next = in_.position() < in_.line().size() ? in_.line()[in_.position()] : ' ';
      if (next != ' ') {
        c_.format = next;
        in_.rewind(in_.position() + 1);
      }
    }
    return word;
  }

  Expected<void> arguments() {
    switch (c_.kind) {
      case K::kBreak:
      case K::kTbreak:
        return breakpoint();
      case K::kWatch:
        return watch();
      case K::kDprintf:
        return log_point();
      case K::kDelete:
      case K::kEnable:
      case K::kDisable:
        return numbers();
      case K::kCondition:
        return condition();
      case K::kIgnore:
        return exact_numbers(2);
      case K::kStep:
      case K::kNext:
      case K::kReverseStep:
      case K::kReverseNext:
        return count();
      case K::kUntil:
      case K::kReverseUntil:
        return where();
      case K::kGoto:
        return position();
      case K::kRank:
      case K::kFocus:
        return ranks();
      case K::kFreeze:
      case K::kThaw:
        return optional_ranks();
      case K::kSet:
        return edit();
      case K::kInfo:
        return info();
      case K::kPrint:
      case K::kExamine:
        return print();
      case K::kInside:
        return inside();
      case K::kBacktrace:
        return backtrace();
      case K::kList:
        return list();
      case K::kHelp:
        c_.text = in_.rest();
        in_.rewind(in_.line().size());
        return {};
      case K::kRun:
      case K::kContinue:
      case K::kFinish:
      case K::kReverseFinish:
      case K::kReverseContinue:
      case K::kWhatIf:
      case K::kQuit:
        return {};
    }
    return {};
  }

  Expected<void> breakpoint() {
    HOSTIR_TRY(where());
    return clauses();
  }

  Expected<void> watch() {
    HOSTIR_TRY(value_name());
    c_.place = Place{Place::Kind::kWrite, c_.value, 0};
    c_.value.clear();
    HOSTIR_TRY(slice());
    return clauses();
  }

  // The comma is optional; gdb has it.
  Expected<void> log_point() {
    HOSTIR_TRY(where());
    in_.take(",");
    in_.skip_blanks();
    const size_t begin = in_.position();
    auto text = in_.quoted();
    if (!text) return in_.error("expected a text, as in \"rank {rank}: {max(%y)}\"", begin);
    HOSTIR_TRY(parse_log_text(*text));
    c_.text = std::move(*text);
    return clauses();
  }

  Expected<void> clauses() {
    for (;;) {
      if (in_.take("if")) {
        HOSTIR_ASSIGN_OR_RETURN(c_.condition, parse_expression(in_));
      } else if (in_.take("on") || in_.take("rank")) {
        in_.take("rank");
        HOSTIR_TRY(ranks());
      } else {
        return {};
      }
    }
  }

  Expected<void> numbers() {
    while (!in_.at_end()) {
      const auto n = in_.integer();
      if (!n || *n < 1) return in_.error("expected a breakpoint's number");
      c_.numbers.push_back(*n);
      in_.take(",");
    }
    return {};
  }

  Expected<void> exact_numbers(size_t wanted) {
    for (size_t i = 0; i < wanted; ++i) {
      const auto n = in_.integer();
      if (!n || *n < 0) return in_.error(fmt::format("expected: {}", spec(c_.kind).arguments));
      c_.numbers.push_back(*n);
    }
    return {};
  }

  Expected<void> condition() {
    HOSTIR_TRY(exact_numbers(1));
    in_.take("if");
    if (in_.at_end()) return {};
    HOSTIR_ASSIGN_OR_RETURN(c_.condition, parse_expression(in_));
    return {};
  }

  Expected<void> count() {
    if (in_.at_end()) return {};
    const auto n = in_.integer();
    if (!n || *n < 1) return in_.error("expected a count of at least 1");
    c_.numbers = {*n};
    return {};
  }

  Expected<void> position() {
    if (in_.take("start"))
      c_.numbers = {0};
    else if (in_.take("end"))
      c_.numbers = {std::numeric_limits<int64_t>::max()};
    else
      return exact_numbers(1);
    return {};
  }

  Expected<void> where() {
    HOSTIR_ASSIGN_OR_RETURN(c_.place, read_place(in_));
    return {};
  }

  Expected<void> value_name() {
    HOSTIR_ASSIGN_OR_RETURN(c_.value, read_value_name(in_));
    return {};
  }

  Expected<void> ranks() {
    if (in_.take("all")) {
      c_.ranks.kind = RankSelector::Kind::kAll;
      return {};
    }
    if (in_.take("focus")) return {};
    if (in_.take("group")) return group();
    if (is_word_start(in_.peek())) return coordinate();
    c_.ranks.kind = RankSelector::Kind::kList;
    do {
      HOSTIR_TRY(rank_range());
    } while (in_.take(","));
    auto& list = c_.ranks.ranks;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return {};
  }

  Expected<void> rank_range() {
    const size_t begin = in_.position();
    const auto lo = in_.integer();
    if (!lo) return in_.error("expected ranks: 3, 0,2, 4..7, all, group tp, tp=0");
    auto hi = lo;
    if (in_.take("..")) hi = in_.integer();
    if (!hi || *lo < 0 || *hi < *lo || *hi >= kMaxListedRanks)
      return in_.error("not a range of ranks", begin);
    for (int64_t r = *lo; r <= *hi; ++r) c_.ranks.ranks.push_back(static_cast<Rank>(r));
    return {};
  }

  Expected<void> group() {
    c_.ranks.kind = RankSelector::Kind::kGroup;
    do {
      const size_t before = in_.position();
      const std::string_view axis = in_.word();
      if (axis.empty() || axis == "if" || axis == "on") {
        in_.rewind(before);
        return {};
      }
      c_.ranks.axes.emplace_back(axis);
    } while (in_.take(","));
    return {};
  }

  Expected<void> coordinate() {
    const size_t begin = in_.position();
    c_.ranks.kind = RankSelector::Kind::kCoordinate;
    c_.ranks.axes = {std::string(in_.word())};
    const bool equals = in_.take("=");
    const auto n = equals ? in_.integer() : std::nullopt;
    if (!n || *n < 0) return in_.error("expected ranks: 3, 0,2, 4..7, all, group tp, tp=0", begin);
    c_.ranks.coordinate = *n;
    return {};
  }

  Expected<void> optional_ranks() {
    if (in_.at_end()) return {};
    return ranks();
  }

  Expected<void> slice() {
    if (in_.peek() != '[') return {};
    const size_t begin = in_.position();
    HOSTIR_ASSIGN_OR_RETURN(Expression element, parse_slice(in_));
    const auto ranges = constant_slice(element);
    if (!ranges) return in_.error(ranges.error().message(), begin);
    c_.slice.insert(c_.slice.end(), ranges->begin(), ranges->end());
    return {};
  }

  Expected<void> print() {
    if (c_.format != 0 && c_.format != 'x' && c_.format != 'd' && c_.format != 'e')
      return in_.error("formats are /x (bits), /d (decimal) and /e (exponent)");
    if (!c_.numbers.empty() && (c_.kind != K::kExamine || c_.numbers.front() < 1))
      return in_.error("a count of at least 1 goes with x: x/4 %y[0, 2]");
    const size_t begin = in_.position();
    if (in_.peek() == '%') {
      HOSTIR_TRY(value_name());
      HOSTIR_TRY(slice());
    }
    const size_t dot = c_.value.rfind('.');
    const bool statistic =
        dot != std::string::npos && is_statistic(std::string_view(c_.value).substr(dot + 1));
    const bool names_value = in_.line().find('%', begin) != std::string_view::npos;
    if (c_.kind == K::kPrint && names_value &&
        (c_.value.empty() || statistic || !ends_or_selects())) {
      in_.rewind(begin);
      c_.value.clear();
      c_.slice.clear();
      HOSTIR_ASSIGN_OR_RETURN(c_.condition, parse_expression(in_));
    } else if (c_.value.empty()) {
      HOSTIR_TRY(value_name());  // reports what is missing
    }
    if (in_.take("global")) {
      c_.from = Command::From::kGlobal;
    } else if (in_.take("rank") || in_.take("on")) {
      c_.from = Command::From::kRanks;
      HOSTIR_TRY(ranks());
    }
    if (!c_.condition) HOSTIR_TRY(slice());  // also after the ranks: print %y rank 1 [0:2]
    return {};
  }

  // A value may be followed by where it is read; anything else continues an expression.
  bool ends_or_selects() {
    const size_t begin = in_.position();
    const bool out = in_.at_end() || in_.take("global") || in_.take("rank") || in_.take("on");
    in_.rewind(begin);
    return out;
  }

  Expected<void> inside() {
    if (in_.peek() == '%') {
      HOSTIR_TRY(value_name());
      HOSTIR_TRY(slice());
    }
    for (const SliceRange& range : c_.slice) {
      if (range.hi != range.lo + 1) return in_.error("expected one element: %y[2, 3]");
    }
    if (in_.take("rank") || in_.take("on")) HOSTIR_TRY(ranks());
    if (!in_.take("at")) return {};
    return where();
  }

  Expected<void> edit() {
    HOSTIR_TRY(value_name());
    HOSTIR_TRY(slice());
    if (!in_.take("=")) return in_.error("expected '=' and the new value");
    in_.skip_blanks();
    const size_t begin = in_.position();
    std::string_view value = in_.rest();
    const size_t clause = value.rfind(" rank ");
    if (clause != std::string_view::npos && value.find('"', clause) == std::string_view::npos) {
      value = value.substr(0, clause);
      in_.rewind(begin + clause + 6);
      HOSTIR_TRY(ranks());
    } else {
      in_.rewind(in_.line().size());
    }
    if (value.empty()) return in_.error("expected the new value", begin);
    c_.text = value;
    return {};
  }

  Expected<void> info() {
    in_.skip_blanks();
    const size_t begin = in_.position();
    const std::string_view word = in_.word();
    for (const TopicName& t : kTopicNames) {
      if (word.empty() || t.name.substr(0, word.size()) != word) continue;
      c_.topic = t.topic;
      if (in_.peek() == '%') return value_name();
      return {};
    }
    return in_.error(fmt::format("expected one of: {}", spec(c_.kind).arguments), begin);
  }

  Expected<void> backtrace() {
    if (in_.take("rank") || in_.take("on")) return ranks();
    return optional_ranks();
  }

  Expected<void> list() {
    if (in_.at_end()) return {};
    return where();
  }

  Scanner in_;
  Command c_;
};

}  // namespace

Expected<Command> parse_command(std::string_view text) { return Parser(text).command(); }

std::string_view name(InfoTopic topic) {
  for (const TopicName& t : kTopicNames) {
    if (t.topic == topic) return t.name;
  }
  return "ranks";
}

}  // namespace hostir::interp
