// Rank x host/compute/communication lanes over time, from the log's level-of-detail pyramid.
#include <fmt/core.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"
#include "gui/panels/timeline_find.h"
#include "gui/panels/timeline_notes.h"
#include "gui/panels/timeline_paint.h"

namespace hostir::gui {

namespace {

using interp::Rank;

class TimelinePanel : public Panel {
 public:
  std::string_view id() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  std::string_view hint() const override {
    return "What every stream of every rank did when: it fills as the program runs (F10 steps, F5 "
           "runs). Wheel zooms around the pointer, Shift+wheel "
           "scrolls, drag pans, Ctrl+drag measures a range, click selects everywhere, F frames the "
           "selection and then everything, M writes a note.";
  }

  std::string save() const override {
    return fmt::format("lane={}\n", static_cast<int>(lane_height_)) + notes_.save();
  }
  void restore(std::string_view text) override {
    notes_.restore(text);
    int height = 0;
    if (!text.starts_with("lane=")) return;
    text.remove_prefix(5);
    if (std::from_chars(text.data(), text.data() + text.size(), height).ec == std::errc())
      lane_height_ = static_cast<float>(std::clamp(height, 4, 60));
  }

  Room room(const Frame& frame) const override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const bool ran = shot.last_decision != 0 || shot.position.decision != 0;
    if (!ran && frame.model.worker().log_progress().total == 0) return Room::idle();
    const bool known = opened_ == frame.model.last_opened() && !rows_.empty();
    const auto lanes = static_cast<float>(shot.ranks.size() * (1 + shot.rank(0).streams.size()));
    const float content =
        known ? rows_.back().y + rows_.back().height : lanes * frame.ui.px(lane_height_);
    return Room::some(content + ImGui::GetFrameHeightWithSpacing() + geometry_.minimap_height +
                      geometry_.ruler_height + frame.ui.px(10));
  }

  void draw(Frame& frame) override {
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (size.x < frame.ui.px(200) || size.y < frame.ui.px(70)) return;
    forget_other_log(frame);
    names_ = names_fetch_.get(frame.model, frame.model.last_opened(),
                              [](const interp::LogView& log, std::stop_token) {
                                return Expected<TimelineNames>(fetch_names(log));
                              });
    if (!names_) return frame.ui.empty_hint(hint());
    draw_toolbar(frame);
    lay_out(frame);
    fetch(frame);
    if (!lanes_data_ || lanes_data_->extent.event_count == 0) {
      return frame.ui.empty_hint(reading_.reading ? "reading the log ..."
                                                  : "Nothing has run yet: F5 runs, F10 steps. " +
                                                        std::string(hint()));
    }
    follow();
    paint(frame);
    interact(frame);
  }

 private:
  void forget_other_log(Frame& frame) {
    if (opened_ == frame.model.last_opened()) return;
    opened_ = frame.model.last_opened();
    fitted_ = false;
    range_.reset();
    folded_.clear();
    scroll_ = 0;
  }

  // ---- what is where

  void lay_out(Frame& frame) {
    geometry_.at = ImGui::GetCursorScreenPos();
    geometry_.size = ImGui::GetContentRegionAvail();
    geometry_.label_width = frame.ui.px(104);
    geometry_.minimap_height = frame.ui.px(22);
    geometry_.ruler_height = frame.ui.px(20);
    const float lane = frame.ui.px(lane_height_);
    rows_ = lay_out_rows(*names_, folded_, lane, std::max(frame.ui.px(3), lane / 3));
    const float content = rows_.empty() ? 0 : rows_.back().y + rows_.back().height;
    const float visible = geometry_.lanes_size().y;
    scroll_ = std::clamp(scroll_, 0.0f, std::max(0.0f, content - visible));
    geometry_.scroll = scroll_;
    first_ = 0;
    while (first_ < rows_.size() && rows_[first_].y + rows_[first_].height < scroll_) ++first_;
    last_ = first_;
    while (last_ < rows_.size() && rows_[last_].y < scroll_ + visible) ++last_;
    const size_t above = first_;
    const size_t below = rows_.size() - last_;
    if (above + below > 0)
      frame.ui.say_hidden(
          fmt::format("{} lanes of the timeline (Shift+wheel scrolls)", above + below));
    if (!folded_.empty()) frame.ui.say_hidden("host lanes of folded ranks");
  }

  void fetch(Frame& frame) {
    reading_ = frame.model.worker().log_progress();
    generation_ = frame.model.generation() << 32;
    // While a large log is read, the picture is asked for again a few times a second.
    if (reading_.reading) generation_ += 1 + static_cast<uint64_t>(frame.model.now_s() * 4);
    const int width = std::clamp(static_cast<int>(geometry_.lanes_size().x), 16, 4000);
    TimelineKey key;
    const double margin = view_.span_ns() / 2;
    key.view = {view_.from_ns - margin, view_.to_ns + margin};
    key.columns = 2 * width;
    key.generation = generation_;
    for (size_t i = first_; i < last_; ++i) key.tracks.push_back(rows_[i].track);
    if (!fitted_) {  // the extent is all that is wanted
      key.view = {0, 1};
      key.tracks.clear();
    }
    lanes_data_ =
        lanes_fetch_.get(frame.model, key, [key](const interp::LogView& log, std::stop_token stop) {
          return fetch_lanes(log, key, stop);
        });
    overview_ = overview_fetch_.get(
        frame.model, {width / 2, generation_},
        [columns = width / 2](const interp::LogView& log, std::stop_token stop) {
          return fetch_overview(log, columns, stop);
        });
    selected_ = ask_event(frame, selected_fetch_, frame.model.selection.event);
    hovered_ = ask_event(frame, hovered_fetch_, hovered_event_);
    if (selected_ && selected_->event.id == frame.model.selection.event &&
        selected_->event.id != shared_event_) {
      share(frame, *selected_);
    }
    if (range_) {
      const SumKey sum{range_->first, range_->second, generation_};
      sums_ = sums_fetch_.get(frame.model, sum, [sum](const interp::LogView& log, std::stop_token) {
        return Expected<std::vector<interp::TimelineSum>>(log.sums(sum.from_ns, sum.to_ns));
      });
    }
  }

  const TimelineEvent* ask_event(Frame& frame, LogFetch<EventKey, TimelineEvent>& slot,
                                 int64_t event) const {
    if (event < 0) return nullptr;
    const EventKey key{event, frame.model.generation()};
    const TimelineEvent* answer =
        slot.get(frame.model, key, [event](const interp::LogView& log, std::stop_token stop) {
          return fetch_event(log, event, stop);
        });
    return answer && answer->event.id == event ? answer : nullptr;
  }

  // A selected event selects its rank, instruction and collective, wherever it was chosen.
  void share(Frame& frame, const TimelineEvent& e) {
    shared_event_ = e.event.id;
    Selection& s = frame.model.selection;
    s.rank = e.event.rank;
    s.code = e.event.instruction;
    if (e.is_collective && !e.members.empty()) {
      s.collective = std::pair(e.members[0].comm, e.members[0].sequence);
    }
  }

  // ---- the view

  void fit() {
    const auto begin = static_cast<double>(lanes_data_->extent.begin_ns);
    const auto end = static_cast<double>(
        std::max(lanes_data_->extent.end_ns, lanes_data_->extent.begin_ns + 10));
    const double margin = (end - begin) * 0.01;
    view_ = {begin - margin, end + margin};
    known_end_ns_ = lanes_data_->extent.end_ns;
    fitted_ = true;
    follow_ = true;
  }
  void follow() {
    if (!fitted_ || (follow_ && lanes_data_->extent.end_ns != known_end_ns_)) fit();
  }
  void zoom(double factor, double anchor) {
    view_.zoom(factor, anchor, static_cast<double>(lanes_data_->extent.begin_ns),
               static_cast<double>(lanes_data_->extent.end_ns));
    follow_ = false;
  }
  void show(double from, double to) {
    const double margin = std::max(5.0, (to - from) * 0.5);
    view_ = {from - margin, to + margin};
    follow_ = false;
  }
  void frame_selection() {
    if (range_)
      return show(static_cast<double>(range_->first), static_cast<double>(range_->second));
    if (!selected_ || selected_->event.end_ns() == interp::kUnknownNs) return fit();
    const auto from = static_cast<double>(selected_->event.begin_ns());
    const auto to = static_cast<double>(selected_->event.end_ns());
    const TimelineView before = view_;
    show(from, to);
    if (before == view_) fit();  // the second time: everything
    for (const TimelineRow& row : rows_) {
      if (names_->tracks[row.track].stream == selected_->event.stream &&
          row.rank == selected_->event.rank)
        scroll_ = row.y - geometry_.lanes_size().y / 2;
    }
  }

  // ---- drawing

  void draw_toolbar(Frame& frame) {
    if (ImGui::SmallButton("Fit")) wants_fit_ = true;
    frame.ui.tag("timeline/fit");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Everything (F twice)");
    ImGui::SameLine();
    if (ImGui::SmallButton("Frame")) wants_frame_ = true;
    frame.ui.tag("timeline/frame");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("The range or the selected event (F)");
    ImGui::SameLine();
    if (ImGui::SmallButton(lane_height_ > 12 ? "Low lanes" : "High lanes"))
      lane_height_ = lane_height_ > 12 ? 9 : 17;
    frame.ui.tag("timeline/lanes");
    ImGui::SameLine();
    if (ImGui::SmallButton(folded_.empty() ? "Fold ranks" : "Unfold ranks")) fold_all();
    frame.ui.tag("timeline/fold");
    ImGui::SameLine();
    if (find_.draw(frame, *names_)) {
      find_.next(frame, selected_ ? &selected_->event : nullptr,
                 static_cast<int64_t>(view_.from_ns));
      wants_center_ = true;
    }
    ImGui::SameLine();
    std::string text = names_->virtual_time ? "virtual time" : "measured time";
    if (!find_.text().empty()) text = find_.status();
    if (reading_.reading && reading_.total > 0) {
      text = fmt::format("reading the log: {:.1f} of {:.1f} million events",
                         static_cast<double>(reading_.read) / 1e6,
                         static_cast<double>(reading_.total) / 1e6);
    }
    frame.ui.text_dim(text);
    frame.ui.tag("timeline/status", text);
    if (ImGui::IsItemHovered()) {
      ImGui::SetTooltip("%s", names_->virtual_time
                                  ? "The times of the machine model: the same in every run"
                                  : "The times that were measured");
    }
  }

  void paint(Frame& frame) {
    if (std::exchange(wants_fit_, false)) fit();
    if (std::exchange(wants_frame_, false)) frame_selection();
    if (wants_center_ && selected_ && selected_->event.id == frame.model.selection.event) {
      wants_center_ = false;
      const double middle = static_cast<double>(selected_->event.begin_ns());
      if (middle < view_.from_ns || middle > view_.to_ns)
        view_ = {middle - view_.span_ns() / 2, middle + view_.span_ns() / 2};
      follow_ = false;
    }
    geometry_.view = view_;
    TimelinePaint paint{frame, geometry_, *names_, ImGui::GetWindowDrawList()};
    if (overview_) paint.minimap(*overview_);
    paint.ruler();
    paint.lanes(rows_, first_, last_, *lanes_data_, find_.found());
    paint.pending(rows_, first_, last_, *lanes_data_, *frame.model.snapshot());
    hovered_run_ = paint.hovered_run();
    pending_text_ = paint.hovered_pending();
    pending_code_ = paint.hovered_pending_code();
    if (selected_) paint.collective(rows_, *selected_);
    if (range_) paint.range(*range_);
    paint.notes(notes_.all());
    paint.playhead(frame.model.snapshot()->now_ns);
    if (range_ && sums_) paint.sums(*range_, *sums_);
  }

  // ---- input

  void interact(Frame& frame) {
    const TimelineGeometry& g = geometry_;
    ImGui::SetCursorScreenPos(g.at);
    ImGui::InvisibleButton("lanes", g.size);
    frame.ui.tag("timeline");
    frame.ui.tag_rect("timeline/minimap", g.at,
                      ImVec2(g.at.x + g.size.x, g.at.y + g.minimap_height));
    const ImGuiIO& io = ImGui::GetIO();
    const double under = g.view.t(io.MousePos.x, g.lanes_at().x, g.lanes_size().x);
    const bool in_minimap = io.MousePos.y < g.at.y + g.minimap_height;
    if (ImGui::IsItemActivated()) {
      drag_ = in_minimap ? Drag::kMinimap : io.KeyCtrl ? Drag::kRange : Drag::kPan;
      drag_from_ = under;
      dragged_ = false;
    }
    if (ImGui::IsItemActive()) drag(io, under);
    if (ImGui::IsItemDeactivated()) {
      if (!dragged_ && drag_ == Drag::kPan) click(frame, io.MousePos);
      drag_ = Drag::kNone;
    }
    if (ImGui::IsItemHovered()) {
      wheel(io, under);
      keys(frame, under);
      if (hovered_run_) {
        tooltip(frame);
      } else if (!pending_text_.empty()) {
        ImGui::SetTooltip("%s\nclick: select the instruction", pending_text_.c_str());
        if (ImGui::IsMouseClicked(0)) frame.model.selection.code = pending_code_;
      }
      const bool in_ruler = !in_minimap && io.MousePos.y < g.lanes_at().y;
      if (in_ruler && ImGui::IsMouseDoubleClicked(0)) fit();
    }
    hovered_event_ = hovered_run_ ? hovered_run_->event : -1;
    notes_.draw_popup(frame);
  }

  void drag(const ImGuiIO& io, double under) {
    if (drag_ == Drag::kMinimap && lanes_data_->extent.end_ns > lanes_data_->extent.begin_ns) {
      const double share = static_cast<double>((io.MousePos.x - geometry_.lanes_at().x) /
                                               std::max(1.0f, geometry_.lanes_size().x));
      const auto begin = static_cast<double>(lanes_data_->extent.begin_ns);
      const double middle =
          begin + share * (static_cast<double>(lanes_data_->extent.end_ns) - begin);
      view_ = {middle - view_.span_ns() / 2, middle + view_.span_ns() / 2};
      follow_ = false;
    }
    if (!ImGui::IsMouseDragging(0, 3)) return;
    dragged_ = true;
    if (drag_ == Drag::kRange) {
      range_ = std::pair(static_cast<int64_t>(std::min(drag_from_, under)),
                         static_cast<int64_t>(std::max(drag_from_, under)));
    } else if (drag_ == Drag::kPan) {
      view_.pan(-static_cast<double>(io.MouseDelta.x) /
                static_cast<double>(geometry_.lanes_size().x) * view_.span_ns());
      scroll_ -= io.MouseDelta.y;
      follow_ = false;
    }
  }

  void wheel(const ImGuiIO& io, double under) {
    if (io.MouseWheel == 0) return;
    if (io.KeyShift) {
      scroll_ -= io.MouseWheel * 3 * std::max(6.0f, lane_height_);
    } else {
      const double fine = io.KeyCtrl ? 0.93 : 0.75;
      zoom(std::pow(fine, static_cast<double>(io.MouseWheel)), under);
    }
  }

  void keys(Frame& frame, double under) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.WantTextInput || io.KeyCtrl || io.KeyAlt) return;
    const auto pressed = [](char c) {
      return ImGui::IsKeyPressed(static_cast<ImGuiKey>(key_code(std::string_view(&c, 1))), true);
    };
    if (pressed('W')) zoom(0.8, under);
    if (pressed('S')) zoom(1.25, under);
    if (pressed('A')) view_.pan(-view_.span_ns() * 0.1);
    if (pressed('D')) view_.pan(view_.span_ns() * 0.1);
    if (pressed('A') || pressed('D')) follow_ = false;
    if (pressed('F')) frame_selection();
    if (pressed('C')) lane_height_ = lane_height_ > 12 ? 9 : 17;
    if (pressed('R') && selected_ && selected_->event.end_ns() != interp::kUnknownNs)
      range_ = std::pair(selected_->event.begin_ns(), selected_->event.end_ns());
    if (pressed('M')) notes_.open(static_cast<int64_t>(under));
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key_code("Esc")), false)) range_.reset();
    if (hovered_ && pressed('G'))
      frame.actions.command(fmt::format("goto {}", hovered_->event.decision));
  }

  void click(Frame& frame, ImVec2 mouse) {
    if (mouse.x < geometry_.lanes_at().x) {
      for (size_t i = first_; i < last_; ++i) {
        const float y = geometry_.lanes_at().y + rows_[i].y - scroll_;
        if (mouse.y < y || mouse.y >= y + rows_[i].height) continue;
        if (mouse.x < geometry_.at.x + frame.ui.px(20)) return fold(rows_[i].rank);
        frame.actions.command(fmt::format("focus {}", rows_[i].rank));
        return;
      }
      return;
    }
    if (hovered_run_) frame.model.selection.event = hovered_run_->event;
  }
  void fold(Rank rank) {
    if (folded_.erase(rank) == 0) folded_.insert(rank);
  }
  void fold_all() {
    const bool fold = folded_.empty();
    folded_.clear();
    for (const interp::LogTrack& track : names_->tracks) {
      if (fold) folded_.insert(track.rank);
    }
  }

  void tooltip(Frame& frame) const {
    const TimelineRun& run = *hovered_run_;
    const bool known = hovered_ && hovered_->event.id == run.event;
    const std::string text = describe(*names_, run, known ? hovered_ : nullptr);
    ImGui::SetTooltip("%s", text.c_str());
    frame.ui.tag("timeline/tooltip", text);
    frame.model.hovered.event = run.event;
    frame.model.hovered.code = run.instruction;
  }

  enum class Drag : uint8_t { kNone, kPan, kRange, kMinimap };

  LogFetch<uint64_t, TimelineNames> names_fetch_{"timeline/names"};
  LogFetch<TimelineKey, TimelineLanes> lanes_fetch_{"timeline/lanes"};
  LogFetch<OverviewKey, TimelineOverview> overview_fetch_{"timeline/overview"};
  LogFetch<EventKey, TimelineEvent> selected_fetch_{"timeline/selected"};
  LogFetch<EventKey, TimelineEvent> hovered_fetch_{"timeline/hovered"};
  LogFetch<SumKey, std::vector<interp::TimelineSum>> sums_fetch_{"timeline/sums"};
  // Answers of this frame; they live in the slots above.
  const TimelineNames* names_ = nullptr;
  const TimelineLanes* lanes_data_ = nullptr;
  const TimelineOverview* overview_ = nullptr;
  const TimelineEvent* selected_ = nullptr;
  const TimelineEvent* hovered_ = nullptr;
  const std::vector<interp::TimelineSum>* sums_ = nullptr;
  interp::LogProgress reading_;

  TimelineView view_;
  TimelineGeometry geometry_;
  std::vector<TimelineRow> rows_;
  size_t first_ = 0;  // rows that are visible
  size_t last_ = 0;
  float scroll_ = 0;
  float lane_height_ = 17;
  uint64_t opened_ = 0;
  uint64_t generation_ = 0;
  bool fitted_ = false;
  bool follow_ = true;
  int64_t known_end_ns_ = 0;
  std::set<Rank> folded_;
  std::string pending_text_;  // of what hangs under the pointer
  interp::CodeIndex pending_code_ = 0;
  std::optional<std::pair<int64_t, int64_t>> range_;
  TimelineNotes notes_;
  TimelineFind find_;
  bool wants_fit_ = false;
  bool wants_frame_ = false;
  bool wants_center_ = false;
  Drag drag_ = Drag::kNone;
  double drag_from_ = 0;
  bool dragged_ = false;
  int64_t hovered_event_ = -1;
  int64_t shared_event_ = -1;
  std::optional<TimelineRun> hovered_run_;
};

}  // namespace

std::unique_ptr<Panel> make_timeline_panel() { return std::make_unique<TimelinePanel>(); }

}  // namespace hostir::gui
