// Filters of events, used by the GUI's panel and by `hostir trace events`.
//
// A filter is an expression (expression.h) of the fields `rank op kernel address class text stream
// undone time dur wait bytes id`, or a list of words that must all hold; `-` before a word negates
// it:
//   rank=0,2..5  op=all_reduce,launch  stream=comm  at=@f#9  class=comm
//   undone=no  time>1us  time<2ms  bytes>=1M  wait>10us  dur>5us  id>=1000
//   %y: has this name; other text without `=`, `<` or `>`: a substring of the printed instruction
// A word is short for an expression: `rank=0,2..5` for `rank in {0, 2..5}`. What depends on the
// instruction alone is evaluated once per instruction, and what the log can search by itself goes
// into an `EventFilter`; the rest is evaluated row by row.
#pragma once

#include <string_view>
#include <vector>

#include "interp/session/expressions/expression.h"
#include "interp/session/log/log_view.h"

namespace hostir::interp {

class EventQuery {
 public:
  explicit EventQuery(const LogView& log) : log_(&log) {}

  EventFilter filter;

  bool all() const { return conditions_.empty(); }  // no condition: every event
  bool holds(const LogEvent& event) const;

  /// One more condition that must hold. Errors: unknown names, types that do not fit (`condition`).
  Expected<void> add(Expression condition);

 private:
  struct Condition {
    Expression expression;
    std::vector<char> by_instruction;  // the result for each; empty if it depends on the event
  };
  const LogView* log_;
  std::vector<Condition> conditions_;
};

/// Errors (kUsage) name the word and what is allowed there. The query must not outlive `log`.
Expected<EventQuery> parse_event_filter(std::string_view text, const LogView& log);

/// For the panel's help: one example per kind of word, with its meaning.
struct EventFilterHelp {
  const char* example;
  const char* meaning;
};
const std::vector<EventFilterHelp>& event_filter_help();

}  // namespace hostir::interp
