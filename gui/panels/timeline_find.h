// Finding on the timeline: which instructions a text names, and the next event of one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/panel.h"
#include "gui/panels/timeline_data.h"

namespace hostir::gui {

class TimelineFind {
 public:
  const std::string& text() const { return text_; }
  /// Instructions that match, sorted; all events of them are lit.
  const std::vector<interp::CodeIndex>& found() const { return found_; }
  std::string status() const;

  /// The field and its button; true when the next match is wanted.
  bool draw(Frame& frame, const TimelineNames& names);
  /// Searches the instructions of a program for a text; `opened` says which program it is. Costs
  /// nothing while neither changes.
  void search(const std::string& text, const TimelineNames& names, uint64_t opened);
  int64_t searches() const { return searches_; }  // so far
  /// Selects the first match that begins after `from` (else after `after_ns`), in the background.
  void next(Frame& frame, const interp::LogEvent* from, int64_t after_ns) const;

 private:
  std::string text_;
  std::vector<interp::CodeIndex> found_;
  std::string searched_;  // what `found_` is of, in what was opened then
  uint64_t searched_in_ = ~uint64_t{0};
  int64_t searches_ = 0;
};

}  // namespace hostir::gui
