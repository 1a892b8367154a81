#include "gui/panels/timeline/timeline_paint.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

constexpr std::array<const char*, 7> kKindNames = {
    "compute", "all_reduce", "gather / scatter", "send / recv", "alloc / free", "host", "wait"};

}  // namespace

std::vector<TimelineRow> lay_out_rows(const TimelineNames& names,
                                      const std::set<interp::Rank>& folded,
                                      const LaneGroups& groups, float lane_height,
                                      float strip_height) {
  std::vector<TimelineRow> rows;
  float y = 0;
  for (size_t t = 0; t < names.tracks.size(); ++t) {
    const interp::LogTrack& track = names.tracks[t];
    const auto group = groups.group_of(track.rank);
    if (group && groups.merged(*group)) {
      if (track.stream < 0 || track.rank != groups.at(*group).ranks.front()) continue;
      const auto index = static_cast<int32_t>(*group);
      const bool first = rows.empty() || rows.back().group != index;
      rows.push_back(
          {static_cast<interp::TrackId>(t), track.rank, y, lane_height, false, first, index});
      y += lane_height;
      continue;
    }
    const bool strip = folded.contains(track.rank);
    if (strip && track.stream < 0) continue;
    const float height = strip ? strip_height : lane_height;
    const bool head = rows.empty() || rows.back().rank != track.rank;
    rows.push_back({static_cast<interp::TrackId>(t), track.rank, y, height, strip, head, -1});
    y += height;
  }
  return rows;
}

void TimelinePaint::ruler() const {
  const Palette& p = frame_.ui.pal();
  const bool steps = g_.axis == TimelineAxis::kSteps;
  const float left = g_.lanes_at().x;
  const float width = g_.lanes_size().x;
  const float top = g_.at.y + g_.minimap_height;
  ImFont* font = frame_.ui.fonts.small;
  const double step = ruler_step_ns(g_.view.span_ns(), width, frame_.ui.px(110));
  // Adding zero turns -0 into 0.
  for (double t = std::ceil(g_.view.from_ns / step) * step + 0.0; t < g_.view.to_ns; t += step) {
    const float x = g_.x(t);
    list_->AddLine(ImVec2(x, top + frame_.ui.px(15)), ImVec2(x, g_.at.y + g_.size.y),
                   with_alpha(p.border, 0.6f));
    const std::string text = steps ? fmt::format("event {:.0f}", t) : format_time(t, step);
    const float end = font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str()).x + x + 3;
    if (end > left + width) continue;
    frame_.ui.draw_text(list_, ImVec2(x + 3, top), p.text_dim, text, width, font);
  }
  frame_.ui.draw_text(list_, ImVec2(g_.at.x + 4, top), p.text_dim,
                      steps ? fmt::format("shows {:.0f} steps", g_.view.span_ns())
                            : "shows " + time_text(g_.view.span_ns()),
                      g_.label_width, frame_.ui.fonts.small);
}

void TimelinePaint::label(const TimelineRow& row, float y) const {
  const Palette& p = frame_.ui.pal();
  const interp::LogTrack& t = names_.tracks[row.track];
  const ImVec2 at(g_.at.x, y);
  list_->AddRectFilled(at, ImVec2(at.x + frame_.ui.px(4), y + row.height - (row.strip ? 0.f : 1.f)),
                       rank_colour(row.rank));
  if (row.head) list_->AddLine(at, ImVec2(g_.at.x + g_.size.x, y), p.border);
  ImFont* font = frame_.ui.fonts.small;
  const bool fits = row.height >= font->FontSize * 0.8f;
  if (!row.head && (!fits || row.strip)) return;
  const std::string text = row.group >= 0
                               ? groups_.at(static_cast<size_t>(row.group)).name + " " + t.name
                           : row.strip ? fmt::format("r{} folded", row.rank)
                                       : fmt::format("r{} {}", row.rank, t.name);
  const bool focus = row.rank == frame_.model.snapshot()->focus;
  const float middle = row.strip ? y : y + (row.height - font->FontSize) / 2;
  if (row.head) {
    const float s = frame_.ui.px(3.5f);
    const ImVec2 c(at.x + frame_.ui.px(12), middle + font->FontSize / 2);
    if (row.strip || row.group >= 0) {
      list_->AddTriangleFilled(ImVec2(c.x - s, c.y - s), ImVec2(c.x + s, c.y),
                               ImVec2(c.x - s, c.y + s), p.text_dim);
    } else {
      list_->AddTriangleFilled(ImVec2(c.x - s, c.y - s), ImVec2(c.x + s, c.y - s),
                               ImVec2(c.x, c.y + s), p.text_dim);
    }
    frame_.ui.tag_rect(fmt::format("timeline/fold/r{}", row.rank), at,
                       ImVec2(at.x + frame_.ui.px(20), y + row.height));
  }
  frame_.ui.draw_text(list_, ImVec2(at.x + frame_.ui.px(20), middle),
                      focus ? p.text_strong : p.text_dim, text, g_.label_width - frame_.ui.px(22),
                      font);
  frame_.ui.tag_rect(row.group >= 0 ? fmt::format("timeline/group/{}/{}", row.group, t.name)
                                    : fmt::format("timeline/lane/r{}/{}", row.rank, t.name),
                     ImVec2(at.x + frame_.ui.px(20), y),
                     ImVec2(at.x + g_.label_width, y + row.height));
}

bool TimelinePaint::dimmed(interp::CodeIndex instruction) const {
  return found_ != nullptr && !found_->empty() &&
         !std::binary_search(found_->begin(), found_->end(), instruction);
}

ImU32 TimelinePaint::colour_of(const TimelineRun& run) const {
  const Palette& p = frame_.ui.pal();
  ImU32 colour = p.event(run.kind);
  if (run.share < 4) colour = mixed(p.panel, colour, 0.35f + 0.15f * static_cast<float>(run.share));
  if (dimmed(run.instruction)) return mixed(p.panel, colour, 0.25f);
  const bool chosen =
      found_ != nullptr && found_->empty() && frame_.model.selection.code == run.instruction;
  return chosen ? mixed(colour, p.text_strong, 0.25f) : colour;
}

void TimelinePaint::lanes(const std::vector<TimelineRow>& rows, size_t first, size_t last,
                          const TimelineLanes& data, const std::vector<interp::CodeIndex>& found) {
  found_ = &found;
  const ImVec2 at = g_.lanes_at();
  const ImVec2 size = g_.lanes_size();
  list_->PushClipRect(ImVec2(g_.at.x, at.y), ImVec2(at.x + size.x, at.y + size.y), true);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto from = static_cast<int64_t>(g_.view.from_ns);
  const auto to = static_cast<int64_t>(g_.view.to_ns) + 1;
  for (size_t i = first; i < last; ++i) {
    const TimelineRow& row = rows[i];
    const float y = at.y + row.y - g_.scroll;
    label(row, y);
    const std::vector<TimelineRun>* runs = runs_of(row, data);
    if (!runs) continue;
    const bool under = mouse.y >= y && mouse.y < y + row.height && mouse.x >= at.x &&
                       mouse.x < at.x + size.x && mouse.y >= at.y;
    if (row.group < 0 && !row.strip) {
      const auto index = static_cast<size_t>(runs - data.runs.data());
      for (const TimelineWait& w : data.waits[index]) {
        if (w.to_ns >= from && w.from_ns <= to) wait(w, row, y);
      }
    }
    for (const TimelineRun& r : *runs) {
      if (r.end_ns < from) continue;
      if (r.begin_ns > to) break;
      run(r, row, y);
      if (!under) continue;
      const float x0 = g_.x(static_cast<double>(r.begin_ns));
      const float x1 = std::max(g_.x(static_cast<double>(r.end_ns)), x0 + 1);
      if (mouse.x >= x0 - 1 && mouse.x <= x1 + 1) hovered_ = r;
    }
  }
  list_->PopClipRect();
}

// The data for a lane; null if the answer is for other lanes.
const std::vector<TimelineRun>* TimelinePaint::runs_of(const TimelineRow& row,
                                                       const TimelineLanes& data) const {
  if (data.key.axis != g_.axis) return nullptr;
  if (row.group >= 0) {
    const auto& all = groups_.at(static_cast<size_t>(row.group)).tracks;
    const auto stream = static_cast<size_t>(names_.tracks[row.track].stream);
    if (stream >= all.size()) return nullptr;
    const auto known = std::find(data.key.groups.begin(), data.key.groups.end(), all[stream]);
    const auto index = static_cast<size_t>(known - data.key.groups.begin());
    return index < data.merged.size() ? &data.merged[index] : nullptr;
  }
  const auto known = std::find(data.key.tracks.begin(), data.key.tracks.end(), row.track);
  const auto index = static_cast<size_t>(known - data.key.tracks.begin());
  return index < data.runs.size() && index < data.waits.size() ? &data.runs[index] : nullptr;
}

void TimelinePaint::run(const TimelineRun& r, const TimelineRow& row, float y) {
  const ImU32 colour = colour_of(r);
  const float left = g_.lanes_at().x;
  const float right = left + g_.lanes_size().x;
  const float x0 = std::max(g_.x(static_cast<double>(r.begin_ns)), left);
  const float x1 = std::clamp(g_.x(static_cast<double>(r.end_ns)), x0 + 1, right + 10);
  const float gap = row.strip ? 0.0f : 1.0f;
  const ImVec2 min(x0, y + gap);
  // Leave a thin gap between slices that are wide enough to be told apart.
  const ImVec2 max(x1 - x0 > 4 ? x1 - 1 : x1, y + row.height - gap);
  const bool waits = r.kind == EventKind::kWait;
  list_->AddRectFilled(min, max, waits ? with_alpha(colour, 0.45f) : colour);
  if (waits && x1 - x0 > 6 && !row.strip) hatch(min, max, with_alpha(colour, 0.9f));
  if (r.count == 1 && r.event == frame_.model.selection.event)
    list_->AddRect(min, max, frame_.ui.pal().text_strong, 0, 0, 2);
  const bool named = r.count == 1 || r.ranks > 1;
  if (named && row.height >= frame_.ui.fonts.small->FontSize * 0.9f) run_label(r, min, max);
}

// Draws as much of the name as fits, else the glyph of a collective, else nothing.
void TimelinePaint::run_label(const TimelineRun& r, ImVec2 min, ImVec2 max) const {
  const float width = max.x - min.x;
  if (r.instruction >= names_.names.size() || width < frame_.ui.px(10)) return;
  const Palette& p = frame_.ui.pal();
  ImFont* font = frame_.ui.fonts.small;
  const float y = (min.y + max.y - font->FontSize) / 2;
  const std::string& glyph = names_.glyphs[r.instruction];
  const ImU32 colour = dimmed(r.instruction)        ? with_alpha(p.text_dim, 0.6f)
                       : r.kind == EventKind::kWait ? p.text
                                                    : p.background;
  if (width < frame_.ui.px(26)) {
    if (!glyph.empty())
      frame_.ui.draw_text(list_, ImVec2(min.x + 1, y), colour, glyph, width, font);
    return;
  }
  const std::string text = r.mixed         ? kKindNames[static_cast<size_t>(r.kind)]
                           : glyph.empty() ? names_.names[r.instruction]
                                           : glyph + " " + names_.names[r.instruction];
  frame_.ui.draw_elided(list_, ImVec2(min.x + 4, y), colour, text, width - 6, font);
}

// Hatching in the waiting task's hue, where its stream was idle for it.
void TimelinePaint::wait(const TimelineWait& w, const TimelineRow& row, float y) {
  const ImVec2 at = g_.lanes_at();
  const float x0 = std::max(g_.x(static_cast<double>(w.from_ns)), at.x);
  const float x1 = std::min(g_.x(static_cast<double>(w.to_ns)), at.x + g_.lanes_size().x);
  if (x1 - x0 < 2 || w.instruction >= names_.names.size()) return;
  const Palette& p = frame_.ui.pal();
  const float fade = dimmed(w.instruction) ? 0.3f : 1.0f;
  const ImU32 colour = p.event(names_.kinds[w.instruction]);
  const ImVec2 min(x0, y + 1);
  const ImVec2 max(x1 - 1, y + row.height - 1);
  list_->AddRectFilled(min, max, with_alpha(colour, 0.12f * fade));
  hatch(min, max, with_alpha(colour, 0.55f * fade));
  ImFont* font = frame_.ui.fonts.small;
  const std::string word = "waits";
  const float width = font->CalcTextSizeA(font->FontSize, 1e6f, 0, word.c_str()).x;
  if (x1 - x0 > width + 10 && row.height >= font->FontSize * 0.9f) {
    list_->AddRectFilled(ImVec2(x0 + 2, y + 2), ImVec2(x0 + width + 7, y + row.height - 2),
                         p.panel);
    frame_.ui.draw_text(list_, ImVec2(x0 + 4, y + (row.height - font->FontSize) / 2),
                        with_alpha(p.text, fade), word, width + 2, font);
  }
  const interp::LogTrack& track = names_.tracks[row.track];
  const auto events = static_cast<double>(w.ready_ns - w.from_ns);
  const auto members = static_cast<double>(w.to_ns - w.ready_ns);
  std::string text = fmt::format("r{} {} waits {} before {}", row.rank, track.name,
                                 time_text(events + members), names_.names[w.instruction]);
  if (events > 0) text += "\nfor events of other streams " + time_text(events);
  if (members > 0) text += "\nfor other members " + time_text(members);
  frame_.ui.tag_rect(fmt::format("timeline/wait/{}", w.event), min, max, text);
  if (!ImGui::IsMouseHoveringRect(min, max)) return;
  hanging_ = text;
  hanging_code_ = w.instruction;
}

void TimelinePaint::hatch(ImVec2 min, ImVec2 max, ImU32 colour) {
  const float step = frame_.ui.px(7);
  hatches_ += static_cast<int>((max.x - min.x) / step) + 1;
  if (hatches_ < kMaxHatches) Ui::hatch(list_, min, max, colour, step);
}

void TimelinePaint::range(std::pair<int64_t, int64_t> range) const {
  const Palette& p = frame_.ui.pal();
  const float top = g_.at.y + g_.minimap_height;
  const float bottom = g_.at.y + g_.size.y;
  const float left = g_.lanes_at().x;
  const float right = left + g_.lanes_size().x;
  const float x0 = std::clamp(g_.x(static_cast<double>(range.first)), left, right);
  const float x1 = std::clamp(g_.x(static_cast<double>(range.second)), left, right);
  list_->AddRectFilled(ImVec2(x0, top), ImVec2(x1, bottom), with_alpha(p.accent, 0.14f));
  list_->AddLine(ImVec2(x0, top), ImVec2(x0, bottom), p.accent);
  list_->AddLine(ImVec2(x1, top), ImVec2(x1, bottom), p.accent);
  if (g_.axis == TimelineAxis::kTime) return;  // on the time axis `sums` shows the length
  const std::string text =
      fmt::format("{} steps   (Esc: clear)", std::max<int64_t>(1, range.second - range.first));
  frame_.ui.draw_text(list_, ImVec2(x0 + 4, g_.lanes_at().y + 2), p.text_strong, text,
                      frame_.ui.px(200), frame_.ui.fonts.small);
  frame_.ui.tag_rect("timeline/range", ImVec2(x0, top), ImVec2(x1, bottom), text);
}

void TimelinePaint::sums(std::pair<int64_t, int64_t> range,
                         const std::vector<interp::TimelineSum>& sums) const {
  const Palette& p = frame_.ui.pal();
  std::array<interp::TimelineSum, 7> by_kind{};
  for (const interp::TimelineSum& s : sums) {
    if (s.track >= names_.tracks.size()) continue;
    // An asynchronous instruction is also on the host lane, where it counts as host time.
    const bool host = names_.tracks[s.track].stream < 0;
    EventKind kind =
        s.instruction < names_.kinds.size() ? names_.kinds[s.instruction] : EventKind::kHost;
    if (host && kind != EventKind::kWait) kind = EventKind::kHost;
    by_kind[static_cast<size_t>(kind)].count += s.count;
    by_kind[static_cast<size_t>(kind)].busy_ns += s.busy_ns;
  }
  const auto length = static_cast<double>(range.second - range.first);
  const double all = std::max(1.0, length * std::max(1, names_.rank_count));
  std::vector<std::pair<std::string, ImU32>> lines;
  lines.emplace_back(
      fmt::format("range {}, {} ranks   (Esc: clear)", time_text(length), names_.rank_count),
      p.text_strong);
  for (size_t k = 0; k < by_kind.size(); ++k) {
    if (by_kind[k].count == 0) continue;
    lines.emplace_back(
        fmt::format("{:<16} {:>9} events {:>11} {:>6.1f} %", kKindNames[k], by_kind[k].count,
                    time_text(static_cast<double>(by_kind[k].busy_ns)),
                    100.0 * static_cast<double>(by_kind[k].busy_ns) / all),
        p.events[k]);
  }
  ImFont* font = frame_.ui.fonts.mono;
  const float line = font->FontSize + 2;
  float width = 0;
  for (const auto& [text, colour] : lines)
    width = std::max(width, font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str()).x);
  const float right = g_.at.x + g_.size.x;
  float x = g_.x(static_cast<double>(range.second)) + 6;
  x = std::clamp(x, g_.lanes_at().x, std::max(g_.lanes_at().x, right - width - 16));
  const ImVec2 min(x, g_.lanes_at().y + 4);
  const ImVec2 max(x + width + 12, min.y + line * static_cast<float>(lines.size()) + 8);
  list_->AddRectFilled(min, max, with_alpha(p.panel_title, 0.95f), 3);
  list_->AddRect(min, max, p.border, 3);
  std::string text_of_all;
  for (size_t i = 0; i < lines.size(); ++i) {
    frame_.ui.draw_text(list_, ImVec2(min.x + 6, min.y + 4 + line * static_cast<float>(i)),
                        lines[i].second, lines[i].first, width + 4, font);
    text_of_all += lines[i].first + "\n";
  }
  frame_.ui.tag_rect("timeline/sums", min, max, text_of_all);
}

}  // namespace hostir::gui
