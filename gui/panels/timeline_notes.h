// The question for a note on the timeline. Notes belong to the program: the model holds them, the
// settings keep them.
#pragma once

#include <cstdint>
#include <string>

#include "gui/panel.h"

namespace hostir::gui {

class TimelineNotes {
 public:
  /// Asks for the text of a note at this time.
  void open(int64_t time_ns);
  /// The question, while it is open.
  void draw_popup(Frame& frame);

 private:
  int64_t time_ns_ = 0;
  std::string text_;
};

}  // namespace hostir::gui
