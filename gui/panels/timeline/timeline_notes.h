// The popup that asks for the text of a timeline note. The model holds the notes; the settings keep
// them per program.
#pragma once

#include <cstdint>
#include <string>

#include "gui/tree/panel.h"

namespace hostir::gui {

class TimelineNotes {
 public:
  /// Opens the popup for a note at this time.
  void open(int64_t time_ns);
  /// Draws the popup while it is open.
  void draw_popup(Frame& frame);

 private:
  int64_t time_ns_ = 0;
  std::string text_;
};

}  // namespace hostir::gui
