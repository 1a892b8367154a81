#include "gui/panels/program/rank_marks.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/waits/rank_text.h"

namespace hostir::gui {

namespace {
constexpr float kStep = 9;         // distance between marks, in pixels
constexpr size_t kMostLines = 12;  // in a tooltip
}  // namespace

void RankMarks::index(const interp::SnapshotPtr& shot) {
  if (shot_ == shot) return;
  shot_ = shot;
  lines_.clear();
  const std::vector<uint32_t>& lines = shot->program->lines;
  for (const auto& rank : shot->ranks) {
    // The end of a cut log does not say where its hosts were.
    const bool known = rank->status != interp::RankStatus::kUnknown || !rank->address.empty();
    if (known && rank->status != interp::RankStatus::kDone && rank->code < lines.size())
      lines_[static_cast<int>(lines[rank->code]) - 1].hosts.push_back(rank->rank);
    for (size_t s = 0; s < rank->streams.size(); ++s) {
      const auto& tasks = rank->streams[s].tasks;
      if (tasks.empty() || tasks.front().code >= lines.size()) continue;
      lines_[static_cast<int>(lines[tasks.front().code]) - 1].heads.push_back({rank->rank, s});
    }
  }
}

float RankMarks::width(const Ui& ui) const {
  const auto ranks = static_cast<float>(shot_ ? shot_->rank_count() : 1);
  return ui.px(std::min(46.0f, 12 + kStep * ranks));
}

void RankMarks::tooltip(Frame& frame, const Line& line) const {
  std::vector<std::string> texts;
  for (const interp::Rank r : line.hosts) texts.push_back(fmt::format("r{}: its host is here", r));
  for (const Head& h : line.heads) {
    if (texts.size() > kMostLines) break;
    texts.push_back(stream_head_text(*shot_, h.rank, shot_->rank(h.rank).streams[h.stream]));
  }
  std::string all;
  for (size_t i = 0; i < std::min(texts.size(), kMostLines); ++i) all += texts[i] + "\n";
  if (line.hosts.size() + line.heads.size() > kMostLines)
    all += fmt::format("and {} more\n", line.hosts.size() + line.heads.size() - kMostLines);
  all.pop_back();
  Ui::tooltip("%s", all.c_str());
  frame.ui.tag_rect("host_ir/marks/tooltip", ImVec2(0, 0), ImVec2(0, 0), all);
}

void RankMarks::draw(Frame& frame, ImDrawList* list, int line, ImVec2 at, float width,
                     float row) const {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return;
  const Line& here = found->second;
  const Palette& p = frame.ui.pal();
  const float step = frame.ui.px(kStep);
  const std::string waiting = glyph(StateKind::kWaiting);
  if (!here.heads.empty()) {
    frame.ui.tag_rect(
        fmt::format("host_ir/heads/{}", line + 1), at, ImVec2(at.x + width, at.y + row),
        stream_head_text(*shot_, here.heads.front().rank,
                         shot_->rank(here.heads.front().rank).streams[here.heads.front().stream]));
  }
  const size_t marks = here.hosts.size() + here.heads.size();
  if (static_cast<float>(marks) * step > width) {
    std::string text;
    if (!here.hosts.empty()) text += fmt::format("\u25cf\u00d7{}", here.hosts.size());
    if (!here.heads.empty()) text += fmt::format("{}{}", waiting, here.heads.size());
    const interp::Rank first = here.hosts.empty() ? here.heads.front().rank : here.hosts.front();
    frame.ui.draw_text(list, ImVec2(at.x, at.y + 1), p.rank(first), text, width,
                       frame.ui.fonts.mono);
  } else {
    float x = at.x + width - step * static_cast<float>(marks);
    for (const Head& h : here.heads) {
      frame.ui.draw_text(
          list, ImVec2(x - frame.ui.px(1), at.y + (row - frame.ui.fonts.small->FontSize) / 2),
          p.rank(h.rank), waiting, step + frame.ui.px(4), frame.ui.fonts.small);
      x += step;
    }
    for (const interp::Rank r : here.hosts) {
      list->AddCircleFilled(ImVec2(x + step / 2, at.y + row / 2), frame.ui.px(3.4f), p.rank(r));
      x += step;
    }
  }
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, ImVec2(at.x + width, at.y + row)))
    tooltip(frame, here);
}

}  // namespace hostir::gui
