// Vertical scrolling of lanes that are drawn by hand, with a bar where they do not fit.
#pragma once

#include <string>

#include "gui/panel.h"

namespace hostir::gui {

class LaneScroll {
 public:
  static constexpr float kWidth = 12;  // of the bar, in pixels at scale 1

  float offset() const { return offset_; }
  bool needed() const { return content_ > visible_; }
  /// Heights in pixels, each frame before anything else; keeps the offset within them.
  void set(float content, float visible);
  void by(float pixels) { offset_ += pixels; }
  /// Scrolls only if this stretch of the content is not in view.
  void reveal(float from, float to);
  /// The bar, if it is needed, `size.y` high at `at`. A click beside its grip goes there; the wheel
  /// moves by three times `line`. `text` says what is in view.
  void draw(Frame& frame, ImVec2 at, ImVec2 size, float line, const std::string& text);

 private:
  float offset_ = 0;
  float content_ = 0;
  float visible_ = 0;
  float grabbed_ = 0;  // from the top of the grip
};

}  // namespace hostir::gui
