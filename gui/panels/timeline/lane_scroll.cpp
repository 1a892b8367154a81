#include "gui/panels/timeline/lane_scroll.h"

#include <algorithm>

namespace hostir::gui {

void LaneScroll::set(float content, float visible) {
  content_ = content;
  visible_ = visible;
  offset_ = std::clamp(offset_, 0.0f, std::max(0.0f, content - visible));
}

void LaneScroll::reveal(float from, float to) {
  if (from < offset_ || to > offset_ + visible_) offset_ = from - visible_ / 2;
  set(content_, visible_);
}

void LaneScroll::draw(Frame& frame, ImVec2 at, ImVec2 size, float line, const std::string& text) {
  if (!needed()) return;
  const float grip = std::max(frame.ui.px(18), size.y * visible_ / content_);
  const float way = std::max(1.0f, size.y - grip);
  const float most = content_ - visible_;
  const float top = offset_ / most * way;
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("scrollbar", ImVec2(std::max(1.0f, size.x), std::max(1.0f, size.y)));
  frame.ui.tag("timeline/scrollbar", text);
  const ImGuiIO& io = ImGui::GetIO();
  const float mouse = io.MousePos.y - at.y;
  if (ImGui::IsItemActivated())
    grabbed_ = mouse >= top && mouse < top + grip ? mouse - top : grip / 2;
  if (ImGui::IsItemActive()) offset_ = std::clamp((mouse - grabbed_) / way, 0.0f, 1.0f) * most;
  const bool hovered = ImGui::IsItemHovered();
  if (hovered) {
    offset_ -= io.MouseWheel * 3 * line;
    Ui::tooltip("%s", text.c_str());
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame.ui.pal();
  const ImU32 hue = hovered || ImGui::IsItemActive() ? p.accent : mixed(p.border, p.text_dim, 0.4f);
  list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), p.background, size.x / 2);
  list->AddRectFilled(ImVec2(at.x + 1, at.y + top), ImVec2(at.x + size.x - 1, at.y + top + grip),
                      hue, size.x / 2);
}

}  // namespace hostir::gui
