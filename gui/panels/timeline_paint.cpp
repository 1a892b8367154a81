#include "gui/panels/timeline_paint.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hostir::gui {

namespace {

constexpr std::array<const char*, 7> kKindNames = {
    "compute", "reduction", "gather / scatter", "send / recv", "alloc / free", "host", "wait"};

}  // namespace

std::vector<TimelineRow> lay_out_rows(const TimelineNames& names,
                                      const std::set<interp::Rank>& folded, float lane_height,
                                      float strip_height) {
  std::vector<TimelineRow> rows;
  float y = 0;
  for (size_t t = 0; t < names.tracks.size(); ++t) {
    const interp::LogTrack& track = names.tracks[t];
    const bool strip = folded.contains(track.rank);
    if (strip && track.stream < 0) continue;
    const float height = strip ? strip_height : lane_height;
    const bool head = rows.empty() || rows.back().rank != track.rank;
    rows.push_back({static_cast<interp::TrackId>(t), track.rank, y, height, strip, head});
    y += height;
  }
  return rows;
}

void TimelinePaint::minimap(const TimelineOverview& overview) const {
  const Palette& p = frame_.ui.pal();
  const ImVec2 at(g_.lanes_at().x, g_.at.y);
  const ImVec2 end(g_.at.x + g_.size.x, g_.at.y + g_.minimap_height - 2);
  list_->AddRectFilled(at, end, p.background);
  frame_.ui.draw_text(list_, ImVec2(g_.at.x + 4, at.y + 3), p.text_dim, "whole run", g_.label_width,
                      frame_.ui.fonts.small);
  const float column =
      (end.x - at.x) / static_cast<float>(std::max<size_t>(1, overview.compute.size()));
  const float half = (end.y - at.y) / 2;
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
  }
  const double begin = static_cast<double>(overview.extent.begin_ns);
  const double span = std::max(1.0, static_cast<double>(overview.extent.end_ns) - begin);
  const auto place = [&](double t) {
    return at.x + static_cast<float>(std::clamp((t - begin) / span, 0.0, 1.0)) * (end.x - at.x);
  };
  const float x0 = place(g_.view.from_ns);
  const float x1 = std::max(place(g_.view.to_ns), x0 + 2);
  list_->AddRectFilled(at, ImVec2(x0, end.y), with_alpha(p.panel, 0.6f));
  list_->AddRectFilled(ImVec2(x1, at.y), end, with_alpha(p.panel, 0.6f));
  list_->AddRect(ImVec2(x0, at.y), ImVec2(x1, end.y), p.accent);
}

void TimelinePaint::ruler() const {
  const Palette& p = frame_.ui.pal();
  const float left = g_.lanes_at().x;
  const float width = g_.lanes_size().x;
  const float top = g_.at.y + g_.minimap_height;
  const double step = ruler_step_ns(g_.view.span_ns(), width, frame_.ui.px(110));
  // Adding zero turns -0 into 0.
  for (double t = std::ceil(g_.view.from_ns / step) * step + 0.0; t < g_.view.to_ns; t += step) {
    const float x = g_.x(t);
    list_->AddLine(ImVec2(x, top + frame_.ui.px(15)), ImVec2(x, g_.at.y + g_.size.y),
                   with_alpha(p.border, 0.6f));
    frame_.ui.draw_text(list_, ImVec2(x + 3, top), p.text_dim, format_time(t, step),
                        left + width - x - 4, frame_.ui.fonts.small);
  }
  frame_.ui.draw_text(list_, ImVec2(g_.at.x + 4, top), p.text_dim,
                      "shows " + short_time(g_.view.span_ns()), g_.label_width,
                      frame_.ui.fonts.small);
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
  const std::string text =
      row.strip ? fmt::format("r{} folded", row.rank) : fmt::format("r{} {}", row.rank, t.name);
  const bool focus = row.rank == frame_.model.snapshot()->focus;
  const float middle = row.strip ? y : y + (row.height - font->FontSize) / 2;
  if (row.head) {
    const float s = frame_.ui.px(3.5f);
    const ImVec2 c(at.x + frame_.ui.px(12), middle + font->FontSize / 2);
    if (row.strip) {
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
  frame_.ui.tag_rect(fmt::format("timeline/lane/r{}/{}", row.rank, t.name),
                     ImVec2(at.x + frame_.ui.px(20), y),
                     ImVec2(at.x + g_.label_width, y + row.height));
}

ImU32 TimelinePaint::colour_of(const TimelineRun& run,
                               const std::vector<interp::CodeIndex>& found) const {
  const Palette& p = frame_.ui.pal();
  ImU32 colour = p.event(run.kind);
  if (run.share < 4) colour = mixed(p.panel, colour, 0.35f + 0.15f * static_cast<float>(run.share));
  if (!found.empty()) {
    const bool lit = std::find(found.begin(), found.end(), run.instruction) != found.end();
    return lit ? colour : mixed(p.panel, colour, 0.25f);
  }
  if (frame_.model.selection.code == run.instruction) colour = mixed(colour, p.text_strong, 0.25f);
  return colour;
}

void TimelinePaint::lanes(const std::vector<TimelineRow>& rows, size_t first, size_t last,
                          const TimelineLanes& data, const std::vector<interp::CodeIndex>& found) {
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
    const auto known = std::find(data.key.tracks.begin(), data.key.tracks.end(), row.track);
    const auto index = static_cast<size_t>(known - data.key.tracks.begin());
    if (index >= data.runs.size()) continue;
    const bool under = mouse.y >= y && mouse.y < y + row.height && mouse.x >= at.x &&
                       mouse.x < at.x + size.x && mouse.y >= at.y;
    for (const TimelineRun& r : data.runs[index]) {
      if (r.end_ns < from) continue;
      if (r.begin_ns > to) break;
      run(r, row, y, colour_of(r, found));
      if (!under) continue;
      const float x0 = g_.x(static_cast<double>(r.begin_ns));
      const float x1 = std::max(g_.x(static_cast<double>(r.end_ns)), x0 + 1);
      if (mouse.x >= x0 - 1 && mouse.x <= x1 + 1) hovered_ = r;
    }
  }
  list_->PopClipRect();
}

void TimelinePaint::run(const TimelineRun& r, const TimelineRow& row, float y, ImU32 colour) {
  const float left = g_.lanes_at().x;
  const float right = left + g_.lanes_size().x;
  const float x0 = std::max(g_.x(static_cast<double>(r.begin_ns)), left);
  const float x1 = std::clamp(g_.x(static_cast<double>(r.end_ns)), x0 + 1, right + 10);
  const float gap = row.strip ? 0.0f : 1.0f;
  const ImVec2 min(x0, y + gap);
  // A hair between neighbours that are wide enough to be told apart.
  const ImVec2 max(x1 - x0 > 4 ? x1 - 1 : x1, y + row.height - gap);
  const bool waits = r.kind == EventKind::kWait;
  list_->AddRectFilled(min, max, waits ? with_alpha(colour, 0.45f) : colour);
  if (waits && x1 - x0 > 6 && !row.strip) hatch(min, max, with_alpha(colour, 0.9f));
  if (r.count == 1 && r.event == frame_.model.selection.event)
    list_->AddRect(min, max, frame_.ui.pal().text_strong, 0, 0, 2);
  ImFont* font = frame_.ui.fonts.small;
  if (r.count > 1 || x1 - x0 < frame_.ui.px(26) || row.height < font->FontSize * 0.9f) return;
  if (r.instruction >= names_.names.size()) return;
  frame_.ui.draw_text(list_, ImVec2(min.x + 4, y + (row.height - font->FontSize) / 2),
                      waits ? frame_.ui.pal().text : frame_.ui.pal().background,
                      names_.names[r.instruction], max.x - min.x - 6, font);
}

void TimelinePaint::hatch(ImVec2 min, ImVec2 max, ImU32 colour) {
  const float step = frame_.ui.px(7);
  hatches_ += static_cast<int>((max.x - min.x) / step) + 1;
  if (hatches_ < kMaxHatches) Ui::hatch(list_, min, max, colour, step);
}

void TimelinePaint::pending(const std::vector<TimelineRow>& rows, size_t first, size_t last,
                            const TimelineLanes& data, const interp::Snapshot& shot) {
  if (shot.position.decision != shot.last_decision) return;
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const float right = at.x + g_.lanes_size().x;
  const bool stuck = shot.stop.kind == interp::StopKind::kDeadlock;
  list_->PushClipRect(at, ImVec2(right, at.y + g_.lanes_size().y), true);
  for (size_t i = first; i < last; ++i) {
    const TimelineRow& row = rows[i];
    const interp::LogTrack& track = names_.tracks[row.track];
    if (track.stream < 0 || row.rank >= shot.rank_count()) continue;
    const interp::TaskSnapshot* task = nullptr;
    for (const interp::StreamSnapshot& s : shot.rank(row.rank).streams) {
      if (static_cast<int32_t>(s.index) == track.stream && !s.tasks.empty())
        task = &s.tasks.front();
    }
    if (!task) continue;
    // Its turn: when it was issued, or when the work before it ended.
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
    const ImU32 colour = p.state(stuck ? StateKind::kMismatch : StateKind::kWaiting);
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
      frame_.ui.draw_text(list_, ImVec2(x0 + 5, y + (row.height - font->FontSize) / 2), p.text,
                          text, width - 4, font);
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
                           task->address, task->text, short_time(static_cast<double>(since)),
                           stuck ? "; it cannot begin: see Who waits for whom" : "");
    hanging_code_ = task->code;
    frame_.model.hovered.rank = row.rank;
    frame_.model.hovered.code = task->code;
  }
  list_->PopClipRect();
}

void TimelinePaint::collective(const std::vector<TimelineRow>& rows, const TimelineEvent& event) {
  if (!event.is_collective) return;
  const Palette& p = frame_.ui.pal();
  const ImVec2 at = g_.lanes_at();
  const ImVec2 size = g_.lanes_size();
  list_->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
  std::optional<ImVec2> previous;
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  for (const interp::LogCollective& c : event.members) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const TimelineRow& r) {
      return r.rank == c.rank && names_.tracks[r.track].stream == event.event.stream;
    });
    if (c.arrival_ns == interp::kUnknownNs) continue;
    first_ns = std::min(first_ns, c.arrival_ns);
    last_ns = std::max(last_ns, c.arrival_ns);
    if (row == rows.end()) continue;
    const float y = at.y + row->y - g_.scroll;
    const float x = g_.x(static_cast<double>(c.arrival_ns));
    if (c.start_ns != interp::kUnknownNs && c.start_ns > c.arrival_ns) {
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
  }
  list_->PopClipRect();
  if (!previous || last_ns < first_ns) return;
  const interp::LogCollective& c = event.members[0];
  const std::string text =
      fmt::format("{} #{}: {} of {} arrived, skew {}", c.kind, c.sequence, event.members.size(),
                  c.member_count, short_time(static_cast<double>(last_ns - first_ns)));
  const ImVec2 text_size =
      frame_.ui.fonts.small->CalcTextSizeA(frame_.ui.fonts.small->FontSize, 1e6f, 0, text.c_str());
  const ImVec2 corner(at.x + size.x - text_size.x - 12, at.y + size.y - text_size.y - 8);
  list_->AddRectFilled(ImVec2(corner.x - 4, corner.y - 2),
                       ImVec2(at.x + size.x - 4, at.y + size.y - 3), p.panel_title, 3);
  frame_.ui.draw_text(list_, corner, p.playhead, text, text_size.x + 8, frame_.ui.fonts.small);
  frame_.ui.tag_rect("timeline/collective", corner, ImVec2(at.x + size.x, at.y + size.y), text);
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
}

void TimelinePaint::sums(std::pair<int64_t, int64_t> range,
                         const std::vector<interp::TimelineSum>& sums) const {
  const Palette& p = frame_.ui.pal();
  std::array<interp::TimelineSum, 7> by_kind{};
  for (const interp::TimelineSum& s : sums) {
    if (s.track >= names_.tracks.size()) continue;
    // An asynchronous instruction is on its host's lane too; there it counts as host.
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
      fmt::format("range {}, {} ranks   (Esc: clear)", short_time(length), names_.rank_count),
      p.text_strong);
  for (size_t k = 0; k < by_kind.size(); ++k) {
    if (by_kind[k].count == 0) continue;
    lines.emplace_back(
        fmt::format("{:<16} {:>9} events {:>11} {:>6.1f} %", kKindNames[k], by_kind[k].count,
                    short_time(static_cast<double>(by_kind[k].busy_ns)),
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

void TimelinePaint::notes(const std::vector<TimelineNote>& notes) const {
  const Palette& p = frame_.ui.pal();
  for (const TimelineNote& note : notes) {
    const float x = g_.x(static_cast<double>(note.time_ns));
    if (x < g_.lanes_at().x || x > g_.lanes_at().x + g_.lanes_size().x) continue;
    const float top = g_.at.y + g_.minimap_height;
    list_->AddLine(ImVec2(x, top), ImVec2(x, g_.at.y + g_.size.y), with_alpha(p.link, 0.7f));
    frame_.ui.draw_text(list_, ImVec2(x + 3, g_.lanes_at().y), p.link, note.text, frame_.ui.px(180),
                        frame_.ui.fonts.small);
  }
}

void TimelinePaint::playhead(int64_t now_ns) const {
  const float x = g_.x(static_cast<double>(now_ns));
  if (x < g_.lanes_at().x || x > g_.lanes_at().x + g_.lanes_size().x) return;
  const ImU32 colour = frame_.ui.pal().playhead;
  const float top = g_.at.y + g_.minimap_height;
  list_->AddLine(ImVec2(x, top + frame_.ui.px(8)), ImVec2(x, g_.at.y + g_.size.y), colour, 1.5f);
  list_->AddTriangleFilled(ImVec2(x - 5, top + frame_.ui.px(6)),
                           ImVec2(x + 5, top + frame_.ui.px(6)), ImVec2(x, top + frame_.ui.px(14)),
                           colour);
}

}  // namespace hostir::gui
