// Vertical scrolling for hand-drawn lanes, with a scroll bar if they do not fit.
#pragma once

#include <string>

#include "gui/tree/panel.h"

namespace hostir::gui {

class LaneScroll {
 public:
  static constexpr float kWidth = 12;  // width of the bar, in pixels at scale 1

  float offset() const { return offset_; }
  bool needed() const { return content_ > visible_; }
  /// Sets the heights in pixels and clamps the offset. Call first in each frame.
  void set(float content, float visible);
  void by(float pixels) { offset_ += pixels; }
  /// Scrolls only if this range of the content is not in view.
  void reveal(float from, float to);
  /// Draws the bar if needed, `size.y` high at `at`. A click beside the grip jumps there; the wheel
  /// moves by three times `line`. `text` describes what is in view.
  void draw(Frame& frame, ImVec2 at, ImVec2 size, float line, const std::string& text);

 private:
  float offset_ = 0;
  float content_ = 0;
  float visible_ = 0;
  float grabbed_ = 0;  // distance from the top of the grip
};

}  // namespace hostir::gui
