// Search on the timeline: instructions that match a text, and the next event of one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/panels/timeline/timeline_data.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

class TimelineFind {
 public:
  const std::string& text() const { return text_; }
  /// Matching instructions, sorted; all their events are highlighted.
  const std::vector<interp::CodeIndex>& found() const { return found_; }
  std::string status() const;

  /// Draws the field and its button; true if the next match is requested.
  bool draw(Frame& frame, const TimelineNames& names);
  /// Searches the instructions of a program for a text; `opened` identifies the program. Does
  /// nothing if neither changed.
  void search(const std::string& text, const TimelineNames& names, uint64_t opened);
  int64_t searches() const { return searches_; }  // number of searches so far
  /// Selects the first match that begins after `from` (or, without one, after `after_ns`), in the
  /// background.
  void next(Frame& frame, const interp::LogEvent* from, int64_t after_ns) const;

 private:
  std::string text_;
  std::vector<interp::CodeIndex> found_;
  std::string searched_;  // the text that `found_` is the result for
  uint64_t searched_in_ = ~uint64_t{0};
  int64_t searches_ = 0;
};

}  // namespace hostir::gui
