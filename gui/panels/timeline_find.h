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
  /// Selects the first match that begins after `from` (else after `after_ns`), in the background.
  void next(Frame& frame, const interp::LogEvent* from, int64_t after_ns) const;

 private:
  std::string text_;
  std::vector<interp::CodeIndex> found_;
};

}  // namespace hostir::gui
