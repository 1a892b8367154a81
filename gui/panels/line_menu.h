// The menu of a line of the program: run to it, break there, log a line there.
#pragma once

#include <string>

#include "gui/panel.h"

namespace hostir::gui {

class LineMenu {
 public:
  /// Right behind the line's item, which opens it. `code`: what runs on the line; null: nothing.
  void draw(Frame& frame, const interp::Snapshot& shot, const interp::CodeIndex* code);

 private:
  void draw_log(Frame& frame, const interp::Snapshot& shot, interp::CodeIndex code);

  bool typing_ = false;  // the text of a log point
  bool refocus_ = false;
  std::string text_;
  std::string problem_;
};

}  // namespace hostir::gui
