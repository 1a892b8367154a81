#include "gui/panels/program/code_diff.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::gui {

using interp::DiffLine;

std::string diff_text(const std::vector<DiffLine>& lines) {
  std::string out;
  for (const DiffLine& line : lines) {
    if (line.kind == DiffLine::Kind::kSame) continue;
    out += (line.kind == DiffLine::Kind::kAdded ? "+" : "-") + line.text + "\n";
  }
  return out;
}

void draw_diff_lines(Frame& frame, const std::vector<DiffLine>& lines) {
  const Palette& p = frame.ui.pal();
  ImGui::PushFont(frame.ui.fonts.mono);
  const ImVec2 top = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  const float height = ImGui::GetTextLineHeight() + frame.ui.px(2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImVec2 at = top;
  for (const DiffLine& line : lines) {
    const bool same = line.kind == DiffLine::Kind::kSame;
    const bool added = line.kind == DiffLine::Kind::kAdded;
    const ImU32 hue = p.state(added ? StateKind::kOk : StateKind::kMismatch);
    if (!same) list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), with_alpha(hue, 0.14f));
    const char sign = same ? ' ' : added ? '+' : '-';
    frame.ui.draw_elided(list, ImVec2(at.x + frame.ui.px(4), at.y + 1), same ? p.text_dim : p.text,
                         fmt::format("{:>4} {} {}", line.number, sign, line.text),
                         width - frame.ui.px(8), frame.ui.fonts.mono);
    at.y += height;
  }
  ImGui::Dummy(ImVec2(width, at.y - top.y));
  ImGui::PopFont();
}

}  // namespace hostir::gui
