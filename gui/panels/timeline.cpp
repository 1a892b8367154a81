// Rank x host/compute/communication lanes over time, from the log's level-of-detail pyramid.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"
#include "gui/panels/timeline_view.h"

namespace hostir::gui {

namespace {

using interp::LogCollective;
using interp::LogEvent;
using interp::TimelineSlice;

struct ViewKey {
  TimelineView view;
  int columns = 0;
  uint64_t generation = ~uint64_t{0};
  int first = 0;
  int last = 0;
  friend bool operator==(const ViewKey&, const ViewKey&) = default;
};

struct ViewData {
  interp::LogExtent extent;
  std::vector<interp::LogTrack> tracks;
  std::vector<std::vector<TimelineSlice>> slices;  // by track - first
  std::vector<std::string> names;                  // of instructions, by code
  std::vector<EventKind> kinds;
  std::vector<std::vector<TimelineSlice>> minimap;
  int first = 0;
};

struct DetailKey {
  int64_t event = -1;
  std::optional<std::pair<interp::CommIndex, uint64_t>> collective;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const DetailKey&, const DetailKey&) = default;
};
struct Detail {
  std::optional<LogEvent> event;
  std::vector<LogCollective> members;
};

EventKind kind_of(const interp::LogInstruction& i) {
  if (i.op_class == OpClass::kCommunication) {
    if (i.mnemonic == "send" || i.mnemonic == "recv" || i.mnemonic == "permute")
      return EventKind::kPointToPoint;
    return i.mnemonic.find("reduce") != std::string::npos ? EventKind::kReduce : EventKind::kGather;
  }
  if (i.mnemonic == "launch") return EventKind::kCompute;
  if (i.mnemonic == "alloc" || i.mnemonic == "free") return EventKind::kMemory;
  return i.mnemonic == "wait" ? EventKind::kWait : EventKind::kHost;
}

Expected<ViewData> fetch_view(const interp::LogView& log, const ViewKey& key) {
  ViewData data;
  data.extent = log.extent();
  data.tracks = log.tracks();
  data.first = key.first;
  for (const interp::LogInstruction& i : log.instructions()) {
    data.names.push_back(i.kernel.empty() ? i.mnemonic : i.kernel);
    data.kinds.push_back(kind_of(i));
  }
  interp::TimelineRequest request;
  request.from_ns = static_cast<int64_t>(key.view.from_ns);
  request.to_ns = static_cast<int64_t>(key.view.to_ns) + 1;
  request.columns = key.columns;
  for (int t = key.first; t < key.last && t < static_cast<int>(data.tracks.size()); ++t) {
    request.track = static_cast<interp::TrackId>(t);
    data.slices.push_back(log.timeline(request));
  }
  return data;
}

class TimelinePanel : public Panel {
 public:
  std::string_view id() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  std::string_view hint() const override {
    return "What every stream of every rank did when. Wheel scrolls, Ctrl+wheel or W/S zooms, drag "
           "pans, click selects; "
           "double click on the ruler fits everything.";
  }

  void draw(Frame& frame) override {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (size.x < frame.ui.px(160) || size.y < frame.ui.px(50)) return;
    label_width_ = frame.ui.px(96);
    lane_ = frame.ui.px(compact_ ? 10 : 17);
    const ImVec2 lanes_at(at.x + label_width_, at.y + frame.ui.px(20));
    const ImVec2 lanes_size(size.x - label_width_, size.y - frame.ui.px(20));
    fetch(frame, lanes_size);
    if (!data_) return frame.ui.empty_hint(hint());
    if (data_->extent.event_count == 0)
      return frame.ui.empty_hint("Nothing has run yet: F5 runs, F10 steps. " + std::string(hint()));
    if (!fitted_) fit();
    draw_ruler(frame, at, size);
    draw_lanes(frame, lanes_at, lanes_size);
    draw_detail(frame, lanes_at, lanes_size);
    draw_playhead(frame, at, size);
    interact(frame, at, lanes_at, lanes_size);
  }

 private:
  int track_count() const { return data_ ? static_cast<int>(data_->tracks.size()) : 0; }

  void fetch(Frame& frame, ImVec2 lanes_size) {
    ViewKey key;
    key.view = view_;
    key.columns = std::clamp(static_cast<int>(lanes_size.x), 16, 4000);
    key.generation = frame.model.generation();
    key.first = std::max(0, static_cast<int>(scroll_ / lane_));
    key.last = key.first + static_cast<int>(lanes_size.y / lane_) + 2;
    data_ = view_fetch_.get(frame.model, key, [key](const interp::LogView& log, std::stop_token) {
      return fetch_view(log, key);
    });
    DetailKey wanted{frame.model.selection.event, frame.model.selection.collective,
                     frame.model.generation()};
    detail_ = detail_fetch_.get(
        frame.model, wanted,
        [wanted](const interp::LogView& log, std::stop_token stop) -> Expected<Detail> {
          Detail out;
          if (wanted.event >= 0) {
            auto event = log.event(wanted.event);
            if (event) out.event = *event;
          }
          if (wanted.collective) {
            HOSTIR_ASSIGN_OR_RETURN(auto all, log.collectives({}, stop));
            for (LogCollective& c : all) {
              if (c.comm == wanted.collective->first && c.sequence == wanted.collective->second)
                out.members.push_back(std::move(c));
            }
          }
          return out;
        });
    const bool grew = data_ && fitted_ && data_->extent.end_ns != known_end_ns_;
    if (grew && follow_) fit();
  }

  void fit() {
    const auto begin = static_cast<double>(data_->extent.begin_ns);
    const auto end =
        static_cast<double>(std::max(data_->extent.end_ns, data_->extent.begin_ns + 10));
    const double margin = (end - begin) * 0.02;
    view_ = {begin - margin, end + margin};
    known_end_ns_ = data_->extent.end_ns;
    fitted_ = true;
    follow_ = true;
  }

  void draw_ruler(Frame& frame, ImVec2 at, ImVec2 size) const {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& p = frame.ui.pal();
    const float left = at.x + label_width_;
    const float width = size.x - label_width_;
    const double step = ruler_step_ns(view_.span_ns(), width, frame.ui.px(110));
    for (double t = std::ceil(view_.from_ns / step) * step; t < view_.to_ns; t += step) {
      const float x = view_.x(t, left, width);
      list->AddLine(ImVec2(x, at.y + frame.ui.px(15)), ImVec2(x, at.y + size.y),
                    with_alpha(p.border, 0.6f));
      frame.ui.draw_text(list, ImVec2(x + 3, at.y), p.text_dim, format_time(t, step),
                         frame.ui.px(100), frame.ui.fonts.small);
    }
  }

  void draw_lanes(Frame& frame, ImVec2 at, ImVec2 size) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& p = frame.ui.pal();
    list->PushClipRect(ImVec2(at.x - label_width_, at.y), ImVec2(at.x + size.x, at.y + size.y),
                       true);
    hovered_event_ = -1;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (size_t i = 0; i < data_->slices.size(); ++i) {
      const int track = data_->first + static_cast<int>(i);
      const float y = at.y + static_cast<float>(track) * lane_ - scroll_;
      if (y > at.y + size.y) break;
      draw_label(frame, list, track, ImVec2(at.x - label_width_, y));
      const bool row_hovered = mouse.y >= y && mouse.y < y + lane_ && mouse.x >= at.x;
      for (const TimelineSlice& s : data_->slices[i])
        draw_slice(frame, list, s, y, at.x, size.x, row_hovered);
      if (data_->tracks[static_cast<size_t>(track)].stream < 0) {
        list->AddLine(ImVec2(at.x - label_width_, y), ImVec2(at.x + size.x, y), p.border);
      }
    }
    list->PopClipRect();
    const float below = static_cast<float>(track_count()) * lane_ - scroll_ - size.y;
    if (below > lane_) {
      const std::string more =
          fmt::format("{} lanes below: scroll", static_cast<int>(below / lane_));
      frame.ui.draw_text(list, ImVec2(at.x - label_width_ + 4, at.y + size.y - frame.ui.px(14)),
                         p.state(StateKind::kWaiting), more, label_width_, frame.ui.fonts.small);
    }
  }

  void draw_label(Frame& frame, ImDrawList* list, int track, ImVec2 at) const {
    const interp::LogTrack& t = data_->tracks[static_cast<size_t>(track)];
    const Palette& p = frame.ui.pal();
    list->AddRectFilled(at, ImVec2(at.x + frame.ui.px(4), at.y + lane_ - 1), p.rank(t.rank));
    if (compact_ && t.stream >= 0) return;
    const bool focus = t.rank == frame.model.snapshot()->focus;
    frame.ui.draw_text(
        list, ImVec2(at.x + frame.ui.px(9), at.y + (lane_ - frame.ui.fonts.small->FontSize) / 2),
        focus ? p.text_strong : p.text_dim, fmt::format("r{} {}", t.rank, t.name),
        label_width_ - frame.ui.px(12), frame.ui.fonts.small);
    frame.ui.tag_rect(fmt::format("timeline/lane/r{}/{}", t.rank, t.name), at,
                      ImVec2(at.x + label_width_, at.y + lane_));
  }

  void draw_slice(Frame& frame, ImDrawList* list, const TimelineSlice& s, float y, float left,
                  float width, bool row_hovered) {
    const Palette& p = frame.ui.pal();
    const float x0 = std::max(view_.x(static_cast<double>(s.begin_ns), left, width), left - 10);
    const float x1 = std::max(
        std::min(view_.x(static_cast<double>(s.end_ns), left, width), left + width + 10), x0 + 1);
    if (x1 < left || x0 > left + width) return;
    const bool known = s.instruction < data_->kinds.size();
    const EventKind kind = known ? data_->kinds[s.instruction] : EventKind::kHost;
    const bool selected = s.count == 1 && s.event == frame.model.selection.event;
    const bool linked = known && frame.model.selection.code == s.instruction;
    ImU32 colour = p.event(kind);
    if (s.count > 1) {
      const double share = static_cast<double>(s.busy_ns) /
                           std::max(1.0, static_cast<double>(s.end_ns - s.begin_ns));
      colour =
          mixed(p.panel, colour, static_cast<float>(std::clamp(0.35 + 0.65 * share, 0.35, 1.0)));
    }
    if (linked) colour = mixed(colour, p.text_strong, 0.25f);
    const ImVec2 min(std::max(x0, left), y + 1);
    const ImVec2 max(x1, y + lane_ - 1);
    list->AddRectFilled(min, max, colour);
    if (kind == EventKind::kWait && max.x - min.x > 6)
      Ui::hatch(list, min, max, with_alpha(p.background, 0.5f), frame.ui.px(6));
    if (selected) list->AddRect(min, max, p.text_strong, 0, 0, 2);
    if (s.count == 1 && max.x - min.x > frame.ui.px(30) && !compact_ && known) {
      frame.ui.draw_text(list, ImVec2(min.x + 4, y + (lane_ - frame.ui.fonts.small->FontSize) / 2),
                         p.background, data_->names[s.instruction], max.x - min.x - 6,
                         frame.ui.fonts.small);
    }
    const float mouse_x = ImGui::GetIO().MousePos.x;
    if (row_hovered && mouse_x >= min.x - 1 && mouse_x <= max.x + 1 && mouse_x >= left) {
      hovered_event_ = s.event;
      hovered_slice_ = s;
    }
  }

  // The members of the selected collective: when each arrived, joined by a line, the waits hatched.
  void draw_detail(Frame& frame, ImVec2 at, ImVec2 size) const {
    if (!detail_ || detail_->members.empty()) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& p = frame.ui.pal();
    list->PushClipRect(at, ImVec2(at.x + size.x, at.y + size.y), true);
    std::optional<ImVec2> previous;
    for (const LogCollective& c : detail_->members) {
      const int track = track_of(c.rank);
      if (track < 0 || c.arrival_ns == interp::kUnknownNs) continue;
      const float y = at.y + static_cast<float>(track) * lane_ - scroll_;
      const float x = view_.x(static_cast<double>(c.arrival_ns), at.x, size.x);
      if (c.start_ns != interp::kUnknownNs && c.start_ns > c.arrival_ns) {
        const float start = view_.x(static_cast<double>(c.start_ns), at.x, size.x);
        Ui::hatch(list, ImVec2(x, y + 1), ImVec2(start, y + lane_ - 1),
                  p.state(StateKind::kWaiting), frame.ui.px(5));
      }
      const ImVec2 here(x, y + lane_ / 2);
      list->AddCircleFilled(here, frame.ui.px(3), p.playhead);
      if (previous) list->AddLine(*previous, here, with_alpha(p.playhead, 0.8f), 1.5f);
      previous = here;
    }
    list->PopClipRect();
  }

  // The communication lane of a rank: its last stream.
  int track_of(interp::Rank rank) const {
    int found = -1;
    for (size_t i = 0; i < data_->tracks.size(); ++i) {
      if (data_->tracks[i].rank == rank && data_->tracks[i].stream >= 0)
        found = static_cast<int>(i);
    }
    return found;
  }

  void draw_playhead(Frame& frame, ImVec2 at, ImVec2 size) const {
    const double now = static_cast<double>(frame.model.snapshot()->now_ns);
    const float x = view_.x(now, at.x + label_width_, size.x - label_width_);
    if (x < at.x + label_width_ || x > at.x + size.x) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 colour = frame.ui.pal().playhead;
    list->AddLine(ImVec2(x, at.y + frame.ui.px(10)), ImVec2(x, at.y + size.y), colour, 1.5f);
    list->AddTriangleFilled(ImVec2(x - 5, at.y + frame.ui.px(8)),
                            ImVec2(x + 5, at.y + frame.ui.px(8)), ImVec2(x, at.y + frame.ui.px(16)),
                            colour);
  }

  void interact(Frame& frame, ImVec2 at, ImVec2 lanes_at, ImVec2 lanes_size) {
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton("lanes",
                           ImVec2(lanes_size.x + label_width_, lanes_size.y + frame.ui.px(20)));
    frame.ui.tag("timeline");
    ImGuiIO& io = ImGui::GetIO();
    const auto whole_from = static_cast<double>(data_->extent.begin_ns);
    const auto whole_to = static_cast<double>(data_->extent.end_ns);
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, 3)) {
      view_.pan(-static_cast<double>(io.MouseDelta.x) / static_cast<double>(lanes_size.x) *
                view_.span_ns());
      scroll_ -= io.MouseDelta.y;
      dragged_ = true;
      follow_ = false;
    }
    if (ImGui::IsItemHovered()) {
      const double under = view_.t(io.MousePos.x, lanes_at.x, lanes_size.x);
      if (io.KeyCtrl && io.MouseWheel != 0)
        zoom(std::pow(0.8, static_cast<double>(io.MouseWheel)), under, whole_from, whole_to);
      if (io.KeyShift && io.MouseWheel != 0) {
        view_.pan(-static_cast<double>(io.MouseWheel) * view_.span_ns() * 0.1);
        follow_ = false;
      }
      if (!io.KeyCtrl && !io.KeyShift) scroll_ -= io.MouseWheel * lane_ * 2;
      keys(under, whole_from, whole_to);
      if (io.MousePos.y < lanes_at.y && ImGui::IsMouseDoubleClicked(0)) fit();
      if (hovered_event_ >= 0 && hovered_slice_) tooltip(frame);
    }
    const float limit = std::max(0.0f, static_cast<float>(track_count()) * lane_ - lanes_size.y);
    scroll_ = std::clamp(scroll_, 0.0f, limit);
    if (ImGui::IsItemDeactivated()) {
      if (!dragged_ && hovered_event_ >= 0) click(frame);
      dragged_ = false;
    }
  }

  void zoom(double factor, double anchor, double from, double to) {
    view_.zoom(factor, anchor, from, to);
    follow_ = false;
  }

  void keys(double under, double from, double to) {
    if (ImGui::GetIO().WantTextInput) return;
    const auto pressed = [](char c) {
      return ImGui::IsKeyPressed(key_code(std::string_view(&c, 1)), true);
    };
    if (ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt) return;
    if (pressed('W')) zoom(0.8, under, from, to);
    if (pressed('S')) zoom(1.25, under, from, to);
    if (pressed('A')) view_.pan(-view_.span_ns() * 0.1);
    if (pressed('D')) view_.pan(view_.span_ns() * 0.1);
    if (pressed('F')) fit();
    if (pressed('C')) compact_ = !compact_;
  }

  void tooltip(Frame& frame) const {
    const TimelineSlice& s = *hovered_slice_;
    const std::string name =
        s.instruction < data_->names.size() ? data_->names[s.instruction] : "?";
    const double step = std::max(1.0, static_cast<double>(s.end_ns - s.begin_ns) / 100);
    const std::string length = format_time(static_cast<double>(s.end_ns - s.begin_ns), step);
    if (s.count > 1) {
      ImGui::SetTooltip("%u events, busy %s\nthe longest is %s\nzoom in to see each", s.count,
                        format_time(static_cast<double>(s.busy_ns), step).c_str(), name.c_str());
    } else {
      ImGui::SetTooltip("%s  %s\nbegins at %s\nclick: select", name.c_str(), length.c_str(),
                        format_time(static_cast<double>(s.begin_ns), 1).c_str());
    }
    frame.model.hovered.event = s.event;
    if (s.instruction < data_->names.size()) frame.model.hovered.code = s.instruction;
  }

  void click(Frame& frame) const {
    const TimelineSlice& s = *hovered_slice_;
    frame.model.selection.event = s.event;
    if (s.instruction < data_->names.size()) frame.model.selection.code = s.instruction;
    const int64_t event = s.event;
    Model* model = &frame.model;
    model->worker().ask_log(
        "timeline/select",
        [model, event](const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
          auto all = log.collectives({}, stop);
          if (!all) return {};
          for (const LogCollective& c : *all) {
            if (c.event == event)
              return [model, c] { model->selection.collective = std::pair(c.comm, c.sequence); };
          }
          return [model] { model->selection.collective.reset(); };
        });
  }

  TimelineView view_;
  LogFetch<ViewKey, ViewData> view_fetch_{"timeline/view"};
  LogFetch<DetailKey, Detail> detail_fetch_{"timeline/detail"};
  const ViewData* data_ = nullptr;
  const Detail* detail_ = nullptr;
  float scroll_ = 0;
  float lane_ = 17;
  float label_width_ = 96;
  bool fitted_ = false;
  bool follow_ = true;
  bool compact_ = false;
  bool dragged_ = false;
  int64_t known_end_ns_ = 0;
  int64_t hovered_event_ = -1;
  std::optional<TimelineSlice> hovered_slice_;
};

}  // namespace

std::unique_ptr<Panel> make_timeline_panel() { return std::make_unique<TimelinePanel>(); }

}  // namespace hostir::gui
