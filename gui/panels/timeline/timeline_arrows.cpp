// Arrows between lanes.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "gui/panels/timeline/timeline_paint.h"

namespace hostir::gui {

namespace {

void draw_arrow(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 colour, float thickness,
                float head) {
  if (to.x - from.x < 6 * head) {  // a curve would have to turn back
    const float length = std::max(1.0f, std::hypot(to.x - from.x, to.y - from.y));
    const ImVec2 along((to.x - from.x) / length * head, (to.y - from.y) / length * head);
    const ImVec2 base(to.x - along.x, to.y - along.y);
    list->AddLine(from, base, colour, thickness);
    list->AddTriangleFilled(ImVec2(base.x - along.y / 2, base.y + along.x / 2), to,
                            ImVec2(base.x + along.y / 2, base.y - along.x / 2), colour);
    return;
  }
  // Leaves and arrives horizontally, so that it differs from the lanes' own edges.
  const float bend = std::min((to.x - from.x) / 2, head * 12);
  const ImVec2 tip(to.x - head, to.y);
  list->AddBezierCubic(from, ImVec2(from.x + bend, from.y), ImVec2(tip.x - bend, tip.y), tip,
                       colour, thickness, 16);
  list->AddTriangleFilled(ImVec2(to.x - head, to.y - head / 2), to,
                          ImVec2(to.x - head, to.y + head / 2), colour);
}

}  // namespace

void TimelinePaint::flows(const std::vector<TimelineRow>& rows, const TimelineLanes& data) const {
  if (g_.axis != TimelineAxis::kTime || data.key.axis != g_.axis || data.flows.empty()) return;
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const ImVec2 size = g_.lanes_size();
  std::unordered_map<interp::TrackId, float> middle;  // of visible single lanes
  for (const TimelineRow& row : rows) {
    if (row.group < 0) middle[row.track] = at.y + row.y - g_.scroll + row.height / 2;
  }
  const int64_t selected = frame_.model.selection.event;
  const int64_t hovered = frame_.model.was_hovered.event;
  list_->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  int drawn = 0;
  for (const TimelineFlow& flow : data.flows) {
    const auto from = middle.find(flow.from_track);
    const auto to = middle.find(flow.to_track);
    if (from == middle.end() || to == middle.end()) continue;
    const float x0 = g_.x(static_cast<double>(flow.from_ns));
    const float x1 = g_.x(static_cast<double>(flow.to_ns));
    if (std::max(x0, x1) < at.x || std::min(x0, x1) > at.x + size.x) continue;
    const auto touches = [&](int64_t event) {
      return event >= 0 && (flow.from_event == event || flow.to_event == event);
    };
    const bool bright = touches(selected) || touches(hovered);
    const ImU32 colour = bright         ? p.text_strong
                         : flow.message ? p.text
                                        : p.state(StateKind::kWaiting);
    draw_arrow(list_, ImVec2(x0, from->second), ImVec2(x1, to->second),
               with_alpha(colour, bright ? 0.95f : 0.5f), frame_.ui.px(bright ? 2.0f : 1.2f),
               frame_.ui.px(6));
    ++drawn;
  }
  list_->PopClipRect();
  if (drawn > 0)
    frame_.ui.tag_rect("timeline/arrows", at, ImVec2(at.x + 1, at.y + 1), std::to_string(drawn));
}

}  // namespace hostir::gui
