// The filter language for events, used by the GUI's panel and by `hostir trace events`.
//
// A filter is a list of words that must all match; `-` before a word negates it:
//   rank=0,2..5  op=all_reduce,launch  stream=comm  at=@f#9  class=comm
//   undone=no
//   time>1us  time<2ms  bytes>=1M  wait>10us  dur>5us  id>=1000
//   text without `=`, `<` or `>`: a substring of the printed instruction
// Conditions that the log can search by itself go into an `EventFilter`; the others are checked row
// by row.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/log_view.h"

namespace hostir::interp {

struct EventQuery {
  EventFilter filter;
  std::vector<std::function<bool(const LogEvent&)>> conditions;

  bool all() const;  // no condition: every event
  bool holds(const LogEvent& event) const;
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
