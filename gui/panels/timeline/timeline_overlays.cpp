// Overlays on the lanes: pending work, the selected collective, notes, the playhead.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "gui/panels/collectives/collective_glyph.h"
#include "gui/panels/timeline/timeline_paint.h"
#include "hostir/support/text.h"

namespace hostir::gui {

void TimelinePaint::pending(const std::vector<TimelineRow>& rows, size_t first, size_t last,
                            const TimelineLanes& data, const interp::Snapshot& shot) {
  if (shot.position.decision != shot.last_decision || g_.axis == TimelineAxis::kSteps ||
      data.key.axis == TimelineAxis::kSteps)
    return;
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const float right = at.x + g_.lanes_size().x;
  const bool stuck = shot.stop.kind == interp::StopKind::kDeadlock;
  list_->PushClipRect(at, ImVec2(right, at.y + g_.lanes_size().y), true);
  for (size_t i = first; i < last; ++i) {
    const TimelineRow& row = rows[i];
    const interp::LogTrack& track = names_.tracks[row.track];
    if (track.stream < 0 || row.group >= 0 || row.rank >= shot.rank_count()) continue;
    const interp::TaskSnapshot* task = nullptr;
    for (const interp::StreamSnapshot& s : shot.rank(row.rank).streams) {
      if (static_cast<int32_t>(s.index) == track.stream && !s.tasks.empty())
        task = &s.tasks.front();
    }
    if (!task) continue;
    // It became next when it was issued, or when the work before it ended.
    int64_t since = task->issued_ns;
    const auto known = std::find(data.key.tracks.begin(), data.key.tracks.end(), row.track);
    const auto index = static_cast<size_t>(known - data.key.tracks.begin());
    if (index < data.runs.size() && !data.runs[index].empty())
      since = std::max(since, data.runs[index].back().end_ns);
    const int64_t until = std::max(shot.now_ns, since);
    const float y = at.y + row.y - g_.scroll;
    const float x0 = std::max(g_.x(static_cast<double>(since)), at.x);
    const float x1 = stuck ? right : std::min(g_.x(static_cast<double>(until)), right);
    if (x1 <= x0 + 1) continue;
    const float fade = dimmed(task->code) ? 0.3f : 1.0f;
    const ImU32 colour =
        mixed(p.panel, p.state(stuck ? StateKind::kMismatch : StateKind::kWaiting), fade);
    const ImVec2 min(x0, y + 1);
    const ImVec2 max(x1, y + row.height - 1);
    list_->AddRectFilled(min, max, with_alpha(colour, 0.18f));
    hatch(min, max, with_alpha(colour, 0.55f));
    list_->AddRect(min, max, with_alpha(colour, 0.8f));
    const std::string text = task->text + (stuck ? "  waits forever" : "  in flight");
    ImFont* font = frame_.ui.fonts.small;
    if (row.height >= font->FontSize * 0.9f && x1 - x0 > frame_.ui.px(26)) {
      const float width = std::min(font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str()).x + 8,
                                   x1 - x0 - frame_.ui.px(stuck ? 22 : 4));
      list_->AddRectFilled(ImVec2(x0 + 2, y + 2), ImVec2(x0 + 2 + width, y + row.height - 2),
                           p.panel);
      frame_.ui.draw_elided(list_, ImVec2(x0 + 5, y + (row.height - font->FontSize) / 2),
                            mixed(p.panel, p.text, fade), text, width - 4, font);
      if (stuck) {
        list_->AddRectFilled(ImVec2(x1 - frame_.ui.px(18), y + 2),
                             ImVec2(x1 - 1, y + row.height - 2), p.panel);
        frame_.ui.draw_text(list_,
                            ImVec2(x1 - frame_.ui.px(14), y + (row.height - font->FontSize) / 2),
                            colour, "\u221e", frame_.ui.px(14), font);
      }
    }
    frame_.ui.tag_rect(fmt::format("timeline/pending/r{}/{}", row.rank, track.name), min, max,
                       text);
    if (!ImGui::IsMouseHoveringRect(min, max)) continue;
    hanging_ = fmt::format("rank {}, stream {}: {} {}\nsince {}{}", row.rank, track.name,
                           task->address, task->text, time_text(static_cast<double>(since)),
                           stuck ? "; it cannot begin: see Who waits for whom" : "");
    hanging_code_ = task->code;
    frame_.model.hovered.rank = row.rank;
    frame_.model.hovered.code = task->code;
  }
  list_->PopClipRect();
}

namespace {

std::string meeting_name(const TimelineEvent& event) {
  if (!event.collective->pair) return with_glyph(event.members.front().kind);
  const auto& [from, to] = *event.collective->pair;
  return fmt::format("message r{}\u2192r{}", from, to);
}

}  // namespace

void TimelinePaint::collective(const std::vector<TimelineRow>& rows, const TimelineEvent& event) {
  if (!event.collective) return;
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const ImVec2 size = g_.lanes_size();
  list_->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  const bool steps = g_.axis == TimelineAxis::kSteps;
  std::optional<ImVec2> previous;
  const TimelineRow* lowest = nullptr;
  float begin = at.x;  // left edge of the zone in the lowest lane
  float end = at.x;
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  std::unordered_map<interp::Rank, const TimelineRow*> row_of;  // the row of the stream's lane
  for (const TimelineRow& r : rows) {
    if (r.group < 0 && names_.tracks[r.track].stream == event.event.stream)
      row_of.emplace(r.rank, &r);
  }
  for (const interp::LogCollective& c : event.members) {
    if (c.arrival_ns == interp::kUnknownNs) continue;
    first_ns = std::min(first_ns, c.arrival_ns);
    last_ns = std::max(last_ns, c.arrival_ns);
    const auto at_rank = row_of.find(c.rank);
    if (at_rank == row_of.end()) continue;
    const TimelineRow* row = at_rank->second;
    const float y = at.y + row->y - g_.scroll;
    const float x = g_.x(static_cast<double>(steps ? c.event : c.arrival_ns));
    if (!steps && c.start_ns != interp::kUnknownNs && c.start_ns > c.arrival_ns) {
      const float start = std::min(g_.x(static_cast<double>(c.start_ns)), at.x + size.x);
      const float from = std::max(x, at.x);
      if (start > from)
        hatch(ImVec2(from, y + 1), ImVec2(start, y + row->height - 1),
              p.state(StateKind::kWaiting));
    }
    const ImVec2 here(x, y + row->height / 2);
    if (previous) {
      const float bend = std::max(frame_.ui.px(14), std::fabs(here.x - previous->x) / 2);
      list_->AddBezierCubic(*previous, ImVec2(previous->x - bend, previous->y),
                            ImVec2(here.x - bend, here.y), here, with_alpha(p.playhead, 0.8f), 1.5f,
                            12);
    }
    list_->AddCircleFilled(here, frame_.ui.px(3), p.playhead, 8);
    previous = here;
    lowest = row;
    begin = x;
    end = g_.x(static_cast<double>(steps ? c.event + 1 : std::max(c.finish_ns, c.arrival_ns)));
  }
  list_->PopClipRect();
  if (!lowest || last_ns < first_ns) return;
  const interp::LogCollective& c = event.members[0];
  skew_label(*lowest, at.y + lowest->y - g_.scroll, begin, end,
             fmt::format("{} #{}: {} arrived, skew {}", meeting_name(event), c.sequence,
                         event.arrived_text(), time_text(static_cast<double>(last_ns - first_ns))));
}

// Placed right of the collective in its last lane, or below its start if the window ends before
// that.
void TimelinePaint::skew_label(const TimelineRow& row, float y, float begin, float end,
                               const std::string& text) const {
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const ImVec2 corner(at.x + g_.lanes_size().x, at.y + g_.lanes_size().y);
  ImFont* font = frame_.ui.fonts.small;
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str());
  const float width = size.x + 12;
  float left = end + frame_.ui.px(4);
  if (left + width > corner.x) {
    left = std::min(begin, corner.x - width);
    y += row.height;
  }
  left = std::max(left, at.x);
  const float height = std::max(size.y + 2, std::min(row.height, size.y + 6));
  y = std::clamp(y + (row.height - height) / 2, at.y, std::max(at.y, corner.y - height));
  const ImVec2 min(left, y);
  const ImVec2 max(std::min(left + width, corner.x), y + height);
  list_->AddRectFilled(min, max, p.panel_title, 3);
  list_->AddRect(min, max, with_alpha(p.playhead, 0.6f), 3);
  frame_.ui.draw_text(list_, ImVec2(left + 6, y + (height - size.y) / 2), p.playhead, text,
                      size.x + 4, font);
  frame_.ui.tag_rect("timeline/collective", min, max, text);
}

void TimelinePaint::notes(const std::vector<TimelineNote>& notes) const {
  const Palette& p = frame_.ui.pal();
  if (g_.axis == TimelineAxis::kSteps) {
    if (!notes.empty())
      frame_.ui.say_hidden("notes of the timeline (they belong to times, not steps)");
    return;
  }
  for (size_t i = 0; i < notes.size(); ++i) {
    const TimelineNote& note = notes[i];
    const float x = g_.x(static_cast<double>(note.time_ns));
    if (x < g_.lanes_at().x || x > g_.lanes_at().x + g_.lanes_size().x) continue;
    const float top = g_.at.y + g_.minimap_height;
    list_->AddLine(ImVec2(x, top), ImVec2(x, g_.at.y + g_.size.y), with_alpha(p.link, 0.7f));
    frame_.ui.draw_text(list_, ImVec2(x + 3, g_.lanes_at().y), p.link, note.text, frame_.ui.px(180),
                        frame_.ui.fonts.small);
    frame_.ui.tag_rect("timeline/note/" + std::to_string(i), ImVec2(x, top),
                       ImVec2(x + 3, g_.at.y + g_.size.y), note.text);
  }
}

void TimelinePaint::playhead(double now) const {
  const float x = g_.x(now);
  if (x < g_.lanes_at().x || x > g_.lanes_at().x + g_.lanes_size().x) return;
  const ImU32 colour = frame_.ui.pal().playhead;
  const float top = g_.at.y + g_.minimap_height;
  list_->AddLine(ImVec2(x, top + frame_.ui.px(8)), ImVec2(x, g_.at.y + g_.size.y), colour, 1.5f);
  list_->AddTriangleFilled(ImVec2(x - 5, top + frame_.ui.px(6)),
                           ImVec2(x + 5, top + frame_.ui.px(6)), ImVec2(x, top + frame_.ui.px(14)),
                           colour);
}

}  // namespace hostir::gui
