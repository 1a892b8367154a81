// The strip above the timeline that shows the whole run and the part in view.
#include <algorithm>

#include "gui/panels/timeline/timeline_paint.h"

namespace hostir::gui {

void TimelinePaint::minimap(const TimelineOverview& overview, double now) const {
  const Palette& p = frame_.ui.pal();
  const ImVec2 at(g_.lanes_at().x, g_.at.y);
  const ImVec2 end(g_.at.x + g_.size.x, g_.at.y + g_.minimap_height - 3);
  ImFont* font = frame_.ui.fonts.small;
  list_->AddRectFilled(at, end, p.background);
  const float hosts = frame_.ui.px(5) + 2;  // height of the host strip, above the view's frame
  const float half = (end.y - at.y - hosts) / 2;
  frame_.ui.draw_text(list_, ImVec2(g_.at.x + 4, at.y - 2), p.event(EventKind::kCompute),
                      "\u25b2 compute", g_.label_width, font);
  frame_.ui.draw_text(list_, ImVec2(g_.at.x + 4, at.y + half - 1), p.event(EventKind::kReduce),
                      "\u25bc communication", g_.label_width, font);
  const float column =
      (end.x - at.x) / static_cast<float>(std::max<size_t>(1, overview.compute.size()));
  for (size_t i = 0; i < overview.compute.size(); ++i) {
    const float x = at.x + static_cast<float>(i) * column;
    const float compute = overview.compute[i] * half;
    const float comm = overview.communication[i] * half;
    if (compute > 0)
      list_->AddRectFilled(ImVec2(x, at.y + half - compute), ImVec2(x + column, at.y + half),
                           p.event(EventKind::kCompute));
    if (comm > 0)
      list_->AddRectFilled(ImVec2(x, at.y + half), ImVec2(x + column, at.y + half + comm),
                           p.event(EventKind::kReduce));
    if (overview.host[i] > 0)
      list_->AddRectFilled(ImVec2(x, end.y - hosts), ImVec2(x + column, end.y - 2),
                           with_alpha(p.event(EventKind::kHost), 0.4f + 0.6f * overview.host[i]));
  }
  const double span = std::max(1.0, overview.end - overview.begin);
  const auto place = [&](double t) {
    return at.x +
           static_cast<float>(std::clamp((t - overview.begin) / span, 0.0, 1.0)) * (end.x - at.x);
  };
  const float x0 = std::min(place(g_.view.from_ns), end.x - 4);
  const float x1 = std::max(place(g_.view.to_ns), x0 + 4);
  list_->AddRectFilled(at, ImVec2(x0, end.y), with_alpha(p.panel, 0.6f));
  list_->AddRectFilled(ImVec2(x1, at.y), end, with_alpha(p.panel, 0.6f));
  list_->AddRect(ImVec2(x0, at.y), ImVec2(x1, end.y), p.accent, 0, 0, 2);
  const float x = place(now);
  list_->AddLine(ImVec2(x, at.y), ImVec2(x, end.y), p.playhead, 2);
  if (!ImGui::IsMouseHoveringRect(g_.at, end) || !ImGui::IsWindowHovered()) return;
  const char* text =
      g_.axis == TimelineAxis::kTime
          ? "The whole run, all ranks\nup: streams busy with kernels\ndown: streams busy with "
            "communication\ngrey strip at the bottom: busy hosts\nyellow: now   blue frame: what "
            "is shown below; click or drag moves it"
          : "All steps in order of issue, samples of each stretch\nup: kernels and allocations\n"
            "down: communication\ngrey strip at the bottom: steps of hosts only\nyellow: now   "
            "blue frame: what is shown below; click or drag moves it";
  Ui::tooltip("%s", text);
  frame_.ui.tag_rect("timeline/minimap/tooltip", at, end, text);
}

}  // namespace hostir::gui
