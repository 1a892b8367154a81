// The context menu of a program line: run to it, break at it, add a log point.
#pragma once

#include <string>

#include "gui/tree/panel.h"

namespace hostir::gui {

class LineMenu {
 public:
  /// Call right after drawing the line's item, which opens the menu. `code`: the instruction on the
  /// line; null: none.
  void draw(Frame& frame, const interp::Snapshot& shot, const interp::CodeIndex* code);

 private:
  void draw_log(Frame& frame, const interp::Snapshot& shot, interp::CodeIndex code);

  bool typing_ = false;  // editing the text of a log point
  bool refocus_ = false;
  std::string text_;
  std::string problem_;
};

}  // namespace hostir::gui
