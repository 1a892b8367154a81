// Lanes for rank x host/compute/communication over time, from the log's level-of-detail pyramid.
#include <fmt/core.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "gui/panels/timeline/lane_scroll.h"
#include "gui/panels/timeline/timeline_camera.h"
#include "gui/panels/timeline/timeline_find.h"
#include "gui/panels/timeline/timeline_notes.h"
#include "gui/panels/timeline/timeline_paint.h"
#include "gui/panels/timeline/timeline_queries.h"

namespace hostir::gui {

namespace {

using interp::Rank;

constexpr float kMinimapHeight = 33;
constexpr float kFewestHeight = 90;  // the toolbar, the ruler and two lanes

class TimelinePanel : public Panel {
 public:
  std::string_view id() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  std::string_view hint() const override {
    return "What every stream of every rank did when: it fills as the program runs (F10 steps, F5 "
           "runs). Wheel zooms around the pointer, Shift+wheel "
           "scrolls, drag pans, Ctrl+drag measures a range, click selects everywhere, F frames the "
           "selection and then everything, M writes a note. Comma and dot go along the lane, [ and "
           "] to the other members of a collective.";
  }

  std::span<const PanelKey> keys() const override {
    static constexpr PanelKey kKeys[] = {
        {"W, S", "Zoom in, out", "Around the pointer."},
        {"A, D", "Move left, right", "A tenth of the view."},
        {"F", "Frame", "Shows the selection; press again for everything."},
        {"R", "Measure the selected event", "Its stretch of time, and the sums of what ran in it."},
        {"M", "Note here", "A text at the pointer's time, kept with the program."},
        {"C", "Low lanes", "Makes lanes lower, so that more ranks fit; press again to undo."},
        {"G", "Go to the event under the pointer", "Moves the run to the decision that issued it."},
    };
    return kKeys;
  }

  std::string save() const override {
    return fmt::format("lane={}\n", static_cast<int>(lane_height_)) +
           (camera_.steps() ? "axis=steps\n" : "") + (flows_ ? "" : "flows=off\n");
  }
  void restore(std::string_view text) override {
    camera_.set_axis(text.find("axis=steps\n") == std::string_view::npos ? TimelineAxis::kTime
                                                                         : TimelineAxis::kSteps);
    flows_ = text.find("flows=off\n") == std::string_view::npos;
    int height = 0;
    if (!text.starts_with("lane=")) return;
    text.remove_prefix(5);
    if (std::from_chars(text.data(), text.data() + text.size(), height).ec == std::errc())
      lane_height_ = static_cast<float>(std::clamp(height, 4, 60));
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const bool ran = shot.last_decision != 0 || shot.position.decision != 0;
    if (!ran && frame.model.worker().log_progress().total == 0) return HeightRequest::idle();
    const bool known = opened_ == frame.model.last_opened() && !rows_.empty();
    const auto lanes = static_cast<float>(shot.ranks.size() * (1 + shot.rank(0).streams.size()));
    const float content =
        known ? rows_.back().y + rows_.back().height : lanes * frame.ui.px(lane_height_);
    HeightRequest wanted =
        HeightRequest::some(content + ImGui::GetFrameHeightWithSpacing() +
                            frame.ui.px(kMinimapHeight) + geometry_.ruler_height + frame.ui.px(10));
    wanted.fewest = std::min(wanted.height, frame.ui.px(kFewestHeight));
    return wanted;
  }

  void draw(Frame& frame) override {
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (size.x < frame.ui.px(200) || size.y < frame.ui.px(70)) {
      frame.ui.text_dim("The panel is too low for the timeline.");
      return;
    }
    forget_other_log(frame);
    queries_.refresh(frame.model);
    selected_ = queries_.selected;
    hovered_ = queries_.hovered;
    names_ = queries_.ask_names(frame);
    if (!names_) return frame.ui.empty_hint(hint());
    draw_toolbar(frame);
    lay_out(frame);
    ask(frame);
    if (!queries_.lanes || queries_.lanes->extent.event_count == 0) {
      return frame.ui.empty_hint(queries_.reading.reading
                                     ? "reading the log ..."
                                     : "Nothing has run yet: F5 runs, F10 steps. " +
                                           std::string(hint()));
    }
    const interp::Snapshot& shot = *frame.model.snapshot();
    camera_.set_extent(queries_.lanes->extent,
                       static_cast<double>(shot.position.decision) /
                           std::max(1.0, static_cast<double>(shot.last_decision)));
    const interp::LogExtent& extent = queries_.lanes->extent;
    const bool untimed = !shot.no_stepping.empty() && extent.begin_ns == extent.end_ns;
    if (untimed && !std::exchange(untimed_, true)) camera_.set_axis(TimelineAxis::kSteps);
    camera_.follow();
    paint(frame);
    interact(frame);
  }

 private:
  void forget_other_log(Frame& frame) {
    if (opened_ == frame.model.last_opened()) return;
    opened_ = frame.model.last_opened();
    if (std::exchange(untimed_, false)) camera_.set_axis(TimelineAxis::kTime);
    camera_.forget();
    range_.reset();
    folded_.clear();
    groups_.clear();
    scroll_ = {};
  }

  // ---- layout

  void lay_out(Frame& frame) {
    geometry_.at = ImGui::GetCursorScreenPos();
    geometry_.size = ImGui::GetContentRegionAvail();
    geometry_.label_width = frame.ui.px(104);
    geometry_.axis = camera_.axis();
    // A low panel has lanes instead of the overview.
    const bool low = geometry_.size.y < frame.ui.px(120);
    geometry_.minimap_height = low ? 0 : frame.ui.px(kMinimapHeight);
    geometry_.ruler_height = frame.ui.px(20);
    const float lane = frame.ui.px(lane_height_);
    rows_ = lay_out_rows(*names_, folded_, camera_.steps() ? no_groups_ : groups_, lane,
                         std::max(frame.ui.px(3), lane / 3));
    const float content = rows_.empty() ? 0 : rows_.back().y + rows_.back().height;
    const float visible = geometry_.lanes_size().y;
    scroll_.set(content, visible);
    if (scroll_.needed()) geometry_.size.x -= frame.ui.px(LaneScroll::kWidth);
    if (std::exchange(reveals_, false)) reveal();
    geometry_.scroll = scroll_.offset();
    first_ = 0;
    while (first_ < rows_.size() && rows_[first_].y + rows_[first_].height < scroll_.offset())
      ++first_;
    last_ = first_;
    while (last_ < rows_.size() && rows_[last_].y < scroll_.offset() + visible) ++last_;
    const size_t above = first_;
    const size_t below = rows_.size() - last_;
    if (above + below > 0)
      frame.ui.say_hidden(
          fmt::format("{} lanes of the timeline (the bar or Shift+wheel scrolls)", above + below));
    if (!folded_.empty()) frame.ui.say_hidden("host lanes of folded ranks");
    if (groups_.on() && !camera_.steps()) frame.ui.say_hidden("individual ranks of merged lanes");
  }

  void ask(Frame& frame) {
    TimelineScreen asked;
    asked.view = camera_.view();
    asked.axis = camera_.axis();
    asked.columns = std::clamp(static_cast<int>(geometry_.lanes_size().x), 16, 4000);
    for (size_t i = first_; i < last_; ++i) {
      if (rows_[i].group < 0) {
        asked.tracks.push_back(rows_[i].track);
        continue;
      }
      const auto& tracks = groups_.at(static_cast<size_t>(rows_[i].group)).tracks;
      asked.groups.push_back(tracks[static_cast<size_t>(names_->tracks[rows_[i].track].stream)]);
    }
    asked.fitted = camera_.fitted();
    asked.hovered_event = hovered_event_;
    asked.range = range_;
    queries_.ask(frame, asked);
    selected_ = queries_.selected;
    hovered_ = queries_.hovered;
    if (selected_ && selected_->event.id == frame.model.selection.event &&
        selected_->event.id != shared_event_) {
      share(frame, *selected_);
      // An event clicked in this panel is in view, even if its stream lane is not.
      wants_center_ = reveals_ = selected_->event.id != clicked_event_;
    }
  }

  // Makes the selected event's rank, instruction and collective the shared selection, wherever it
  // was chosen.
  void share(Frame& frame, const TimelineEvent& e) {
    shared_event_ = e.event.id;
    Selection& s = frame.model.selection;
    s.rank = e.event.rank;
    s.code = e.event.instruction;
    if (e.collective) s.collective = e.collective;
  }

  // ---- the view

  void switch_axis() {
    camera_.set_axis(camera_.steps() ? TimelineAxis::kTime : TimelineAxis::kSteps);
    range_.reset();
    wants_center_ = true;
  }
  // Scrolls until the lane of the selected event is in view.
  void reveal() {
    for (const TimelineRow& row : rows_) {
      if (selected_ && names_->tracks[row.track].stream == selected_->event.stream &&
          row.rank == selected_->event.rank)
        scroll_.reveal(row.y, row.y + row.height);
    }
  }
  void frame_selection() {
    if (range_)
      return camera_.show(static_cast<double>(range_->first), static_cast<double>(range_->second));
    const auto at = selected_ ? camera_.place(selected_->event) : std::nullopt;
    if (!at) return camera_.fit();
    const TimelineView before = camera_.view();
    camera_.show(at->first, at->second);
    if (before == camera_.view()) camera_.fit();  // pressed again: show everything
    reveals_ = true;
  }
  void center_selection() {
    const auto at = camera_.place(selected_->event);
    if (at && (at->first < camera_.view().from_ns || at->first > camera_.view().to_ns))
      camera_.center(at->first);
  }

  // ---- drawing

  void draw_toolbar(Frame& frame) {
    if (ImGui::SmallButton("Fit")) wants_fit_ = true;
    frame.ui.tag("timeline/fit");
    if (ImGui::IsItemHovered()) Ui::tooltip("Everything (F twice)");
    ImGui::SameLine();
    if (ImGui::SmallButton("Frame")) wants_frame_ = true;
    frame.ui.tag("timeline/frame");
    if (ImGui::IsItemHovered()) Ui::tooltip("The range or the selected event (F)");
    ImGui::SameLine();
    if (ImGui::SmallButton(lane_height_ > 12 ? "Low lanes" : "High lanes"))
      lane_height_ = lane_height_ > 12 ? 9 : 17;
    frame.ui.tag("timeline/lanes");
    ImGui::SameLine();
    if (ImGui::SmallButton(folded_.empty() ? "Fold ranks" : "Unfold ranks")) fold_all();
    frame.ui.tag("timeline/fold");
    ImGui::SameLine();
    if (names_->rank_count > 1) {
      if (ImGui::SmallButton(groups_.name().c_str()))
        groups_.next(frame.model.snapshot()->program->mesh(), names_->tracks);
      frame.ui.tag("timeline/groups", groups_.name());
      if (ImGui::IsItemHovered())
        Ui::tooltip(
            "Each rank has its lanes, or ranks along a mesh axis share them; a click on the\nname "
            "of "
            "shared lanes shows its ranks, one on the triangle of a rank hides them again");
      ImGui::SameLine();
    }
    if (ImGui::SmallButton(camera_.steps() ? "By step" : "By time")) switch_axis();
    frame.ui.tag("timeline/axis", camera_.steps() ? "steps" : "time");
    if (ImGui::IsItemHovered())
      Ui::tooltip("Time, or the order of steps: every event one step wide, in order of issue");
    if (!camera_.steps() && names_->rank_count > 1) {
      ImGui::SameLine();
      if (ImGui::SmallButton(flows_ ? "Hide flows" : "Show flows")) flows_ = !flows_;
      frame.ui.tag("timeline/flows", flows_ ? "shown" : "hidden");
      if (ImGui::IsItemHovered())
        Ui::tooltip(
            "Arrows between ranks: from a send to its recv, and from the last member of a "
            "collective to those that waited for it. They appear where single events are drawn.");
    }
    if (find_.draw(frame, *names_)) {
      find_.next(frame, selected_ ? &selected_->event : nullptr,
                 camera_.steps() ? 0 : static_cast<int64_t>(camera_.view().from_ns));
      wants_center_ = true;
    }
    draw_status(frame);
  }

  void draw_status(Frame& frame) {
    const std::string text = status();
    Ui::flow(ImGui::CalcTextSize("measured time").x);
    frame.ui.rest_of_line(text);
    frame.ui.tag("timeline/status", text);
    if (ImGui::IsItemHovered()) Ui::tooltip("%s\n%s", text.c_str(), names_->about_times());
  }

  std::string status() const {
    if (std::string reading = queries_.reading_text(); !reading.empty()) return reading;
    if (!find_.text().empty()) return find_.status();
    if (!camera_.steps()) return names_->virtual_time ? "virtual time" : "measured time";
    const int64_t count = queries_.lanes ? queries_.lanes->extent.event_count : 0;
    if (count <= kMaxSteps) return fmt::format("order of steps, {} in all", count);
    return fmt::format("order of steps, at most {} of {} at once", kMaxSteps, count);
  }

  void paint(Frame& frame) {
    frame.model.timeline_range = camera_.steps() ? std::nullopt : range_;
    if (std::exchange(wants_fit_, false)) camera_.fit();
    if (std::exchange(wants_frame_, false)) frame_selection();
    if (wants_center_ && selected_ && selected_->event.id == frame.model.selection.event) {
      wants_center_ = false;
      center_selection();
    }
    geometry_.view = camera_.view();
    TimelinePaint paint{frame, geometry_, *names_, groups_, ImGui::GetWindowDrawList()};
    const TimelineLanes& lanes = *queries_.lanes;
    const double here = camera_.now(*frame.model.snapshot(), lanes);
    if (queries_.overview && geometry_.minimap_height > 0) paint.minimap(*queries_.overview, here);
    paint.ruler();
    paint.lanes(rows_, first_, last_, lanes, find_.found());
    if (flows_) paint.flows(rows_, lanes);
    paint.pending(rows_, first_, last_, lanes, *frame.model.snapshot());
    hovered_run_ = paint.hovered_run();
    pending_text_ = paint.hovered_pending();
    pending_code_ = paint.hovered_pending_code();
    if (range_) paint.range(*range_);
    paint.notes(frame.model.timeline_notes);
    paint.playhead(here);
    if (selected_) paint.collective(rows_, *selected_);
    if (range_ && queries_.sums) paint.sums(*range_, *queries_.sums);
  }

  // ---- input

  void interact(Frame& frame) {
    const TimelineGeometry& g = geometry_;
    ImGui::SetCursorScreenPos(g.at);
    // A panel squeezed by its neighbours may leave no room at all.
    ImGui::InvisibleButton("lanes", ImVec2(std::max(1.0f, g.size.x), std::max(1.0f, g.size.y)));
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
        Ui::tooltip("%s\nclick: select the instruction", pending_text_.c_str());
        if (ImGui::IsMouseClicked(0)) frame.model.selection.code = pending_code_;
      }
      const bool in_ruler = !in_minimap && io.MousePos.y < g.lanes_at().y;
      if (in_ruler && ImGui::IsMouseDoubleClicked(0)) camera_.fit();
    }
    hovered_event_ = hovered_run_ ? hovered_run_->event : -1;
    scroll_.draw(frame, ImVec2(g.at.x + g.size.x + 2, g.lanes_at().y),
                 ImVec2(frame.ui.px(LaneScroll::kWidth) - 2, g.lanes_size().y),
                 std::max(6.0f, lane_height_),
                 fmt::format("lanes {} to {} of {}", first_ + 1, last_, rows_.size()));
    notes_.draw_popup(frame);
  }

  void drag(const ImGuiIO& io, double under) {
    if (drag_ == Drag::kMinimap && camera_.end() > camera_.begin()) {
      const double share = static_cast<double>((io.MousePos.x - geometry_.lanes_at().x) /
                                               std::max(1.0f, geometry_.lanes_size().x));
      camera_.center(camera_.begin() + share * (camera_.end() - camera_.begin()));
    }
    if (!ImGui::IsMouseDragging(0, 3)) return;
    dragged_ = true;
    if (drag_ == Drag::kRange) {
      range_ = std::pair(static_cast<int64_t>(std::min(drag_from_, under)),
                         static_cast<int64_t>(std::max(drag_from_, under)));
    } else if (drag_ == Drag::kPan) {
      camera_.pan(-static_cast<double>(io.MouseDelta.x) /
                  static_cast<double>(geometry_.lanes_size().x));
      scroll_.by(-io.MouseDelta.y);
    }
  }

  void wheel(const ImGuiIO& io, double under) {
    if (io.MouseWheel == 0) return;
    if (io.KeyShift) {
      scroll_.by(-io.MouseWheel * 3 * std::max(6.0f, lane_height_));
    } else {
      const double fine = io.KeyCtrl ? 0.93 : 0.75;
      camera_.zoom(std::pow(fine, static_cast<double>(io.MouseWheel)), under);
    }
  }

  void keys(Frame& frame, double under) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.WantTextInput || io.KeyCtrl || io.KeyAlt) return;
    const auto pressed = [](char c) {
      return ImGui::IsKeyPressed(static_cast<ImGuiKey>(key_code(std::string_view(&c, 1))), true);
    };
    if (pressed('W')) camera_.zoom(0.8, under);
    if (pressed('S')) camera_.zoom(1.25, under);
    if (pressed('A')) camera_.pan(-0.1);
    if (pressed('D')) camera_.pan(0.1);
    if (pressed('F')) frame_selection();
    if (pressed('C')) lane_height_ = lane_height_ > 12 ? 9 : 17;
    const auto at = selected_ ? camera_.place(selected_->event) : std::nullopt;
    if (pressed('R') && at)
      range_ = std::pair(static_cast<int64_t>(at->first), static_cast<int64_t>(at->second));
    if (pressed('M') && !camera_.steps()) notes_.open(static_cast<int64_t>(under));
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key_code("Esc")), false)) range_.reset();
    if (hovered_ && pressed('G'))
      frame.actions.command(fmt::format("goto {}", hovered_->event.decision));
  }

  void click(Frame& frame, ImVec2 mouse) {
    if (mouse.x < geometry_.lanes_at().x) {
      for (size_t i = first_; i < last_; ++i) {
        const float y = geometry_.lanes_at().y + rows_[i].y - scroll_.offset();
        if (mouse.y < y || mouse.y >= y + rows_[i].height) continue;
        const bool triangle = mouse.x < geometry_.at.x + frame.ui.px(20);
        const auto group = groups_.group_of(rows_[i].rank);
        if (rows_[i].group >= 0 || (triangle && group && !camera_.steps()))
          return groups_.toggle(*group);
        if (triangle) return fold(rows_[i].rank);
        frame.actions.command(fmt::format("focus {}", rows_[i].rank));
        return;
      }
      return;
    }
    if (hovered_run_ && hovered_run_->event >= 0)
      frame.model.selection.event = clicked_event_ = hovered_run_->event;
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
    const std::string text = describe(*names_, run, known ? hovered_ : nullptr, camera_.axis());
    Ui::tooltip("%s", text.c_str());
    frame.ui.tag("timeline/tooltip", text);
    if (run.ranks > 1) return;
    frame.model.hovered.event = run.event;
    frame.model.hovered.code = run.instruction;
  }

  enum class Drag : uint8_t { kNone, kPan, kRange, kMinimap };

  TimelineQueries queries_;
  // This frame's answers; `queries_` owns them.
  const TimelineNames* names_ = nullptr;
  const TimelineEvent* selected_ = nullptr;
  const TimelineEvent* hovered_ = nullptr;

  TimelineCamera camera_;
  TimelineGeometry geometry_;
  std::vector<TimelineRow> rows_;
  size_t first_ = 0;  // first visible row
  size_t last_ = 0;
  LaneScroll scroll_;
  bool reveals_ = false;  // scroll the selected event's lane into view
  float lane_height_ = 17;
  uint64_t opened_ = 0;
  std::set<Rank> folded_;
  LaneGroups groups_;
  const LaneGroups no_groups_{};  // used in steps, which have no merged lanes
  bool untimed_ = false;          // the recording has an order but no times
  std::string pending_text_;      // text of the pending work under the pointer
  interp::CodeIndex pending_code_ = 0;
  std::optional<std::pair<int64_t, int64_t>> range_;
  TimelineNotes notes_;
  TimelineFind find_;
  bool flows_ = true;
  bool wants_fit_ = false;
  bool wants_frame_ = false;
  bool wants_center_ = false;
  Drag drag_ = Drag::kNone;
  double drag_from_ = 0;
  bool dragged_ = false;
  int64_t hovered_event_ = -1;
  int64_t clicked_event_ = -1;
  int64_t shared_event_ = -1;
  std::optional<TimelineRun> hovered_run_;
};

}  // namespace

std::unique_ptr<Panel> make_timeline_panel() { return std::make_unique<TimelinePanel>(); }

}  // namespace hostir::gui
