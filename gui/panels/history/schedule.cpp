// The schedule: which rank moved at each position of the history, and which others could have.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "gui/panels/log/log_fetch.h"
#include "gui/panels/waits/wait_graph.h"
#include "gui/state/restart.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::Rank;

constexpr uint64_t kBefore = 200;  // decisions shown before the position
constexpr uint64_t kAfter = 200;

struct Decision {
  uint64_t number = 0;
  Rank rank = 0;
  interp::CodeIndex code = 0;
  int64_t clock_ns = 0;
  bool waited = false;
  std::vector<Rank> others;  // ranks that also had an instruction to run
};
struct Schedule {
  std::vector<Decision> rows;  // ordered by number
  std::vector<std::string> names;
};

// The first visible event with an id of at least `id`; nullopt if there is none.
Expected<std::optional<interp::LogEvent>> shown_from(const interp::LogView& log, int64_t id,
                                                     const std::stop_token& stop) {
  interp::EventFilter filter;
  filter.first_id = id;
  filter.limit = 1;
  filter.shown_only = true;
  HOSTIR_ASSIGN_OR_RETURN(std::vector<interp::LogEvent> found, log.events(filter, stop));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// The first event of a decision. Events are ordered by decision, but undone events lie in between.
Expected<int64_t> event_of(const interp::LogView& log, uint64_t decision,
                           const std::stop_token& stop) {
  int64_t low = 0;
  int64_t high = log.extent().event_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    HOSTIR_ASSIGN_OR_RETURN(const auto event, shown_from(log, middle, stop));
    if (event && event->decision < decision) {
      low = event->id + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The rows around a position. The log does not record which other ranks could move; they are
// inferred: ranks that moved later, unless their next action was to wait.
Expected<Schedule> fetch(const interp::LogView& log, uint64_t at, std::stop_token stop) {
  interp::EventFilter filter;
  HOSTIR_ASSIGN_OR_RETURN(filter.first_id, event_of(log, at > kBefore ? at - kBefore : 0, stop));
  filter.shown_only = true;
  filter.limit = static_cast<int64_t>(kBefore + 2 * kAfter);
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::LogEvent> events, log.events(filter, stop));
  Schedule schedule;
  for (const interp::LogInstruction& i : log.instructions())
    schedule.names.push_back(i.address + " " + i.mnemonic);
  for (const interp::LogEvent& e : events) {
    // For a decision with several events, keep the last one.
    if (!schedule.rows.empty() && schedule.rows.back().number == e.decision)
      schedule.rows.pop_back();
    schedule.rows.push_back(
        {e.decision, e.rank, e.instruction, e.host_start_ns, e.waited_ns > 0, {}});
  }
  std::map<Rank, const Decision*> next;  // while iterating backwards
  for (size_t i = schedule.rows.size(); i-- > 0;) {
    Decision& d = schedule.rows[i];
    for (const auto& [rank, later] : next) {
      if (rank != d.rank && !later->waited) d.others.push_back(rank);
    }
    next[d.rank] = &d;
  }
  return schedule;
}

class SchedulePanel : public Panel {
 public:
  std::string_view id() const override { return "schedule"; }
  std::string_view title() const override { return "Schedule"; }
  std::string_view hint() const override {
    return "Which rank moved at every position of the history, and which others could have. Click "
           "a row to go "
           "there; step another rank first to try a different order. The scheduler takes the rank "
           "whose host clock is smallest, then the lowest number.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    draw_next(frame, shot);
    const uint64_t at = shot.position.decision;
    const Schedule* schedule = fetch_.get(
        frame.model, frame.model.generation(),
        [at](const interp::LogView& log, std::stop_token stop) { return fetch(log, at, stop); });
    if (!fetch_.error().empty()) return frame.ui.empty_hint(fetch_.error());
    if (!schedule || schedule->rows.empty())
      return frame.ui.empty_hint("Nothing was decided yet. " + std::string(hint()));
    draw_table(frame, shot, *schedule);
  }

 private:
  // Which rank moves next, and which could move instead.
  static void draw_next(Frame& frame, const interp::Snapshot& shot) {
    std::vector<Rank> ready;
    for (const auto& r : shot.ranks) {
      if (r->status == interp::RankStatus::kRunnable && !r->frozen) ready.push_back(r->rank);
    }
    std::stable_sort(ready.begin(), ready.end(), [&](Rank a, Rank b) {
      return shot.rank(a).host_clock_ns < shot.rank(b).host_clock_ns;
    });
    if (ready.empty()) {
      const bool ended = std::all_of(shot.ranks.begin(), shot.ranks.end(), [](const auto& r) {
        return r->status == interp::RankStatus::kDone;
      });
      frame.ui.text_dim(ended ? "All ranks have returned." : "No rank can move.");
      frame.ui.tag("schedule/next", "none");
      return;
    }
    ImGui::AlignTextToFramePadding();
    frame.ui.text_dim("Next:");
    const size_t shown = std::min<size_t>(ready.size(), 8);
    for (size_t i = 0; i < shown; ++i) {
      ImGui::SameLine();
      if (frame.ui.rank_chip(ready[i], i == 0, fmt::format("schedule/ready/{}", ready[i]))) {
        for (const std::string& command : step_of(shot, ready[i])) frame.actions.command(command);
      }
      if (ImGui::IsItemHovered()) {
        frame.model.hovered.rank = ready[i];
        Ui::tooltip("rank %d at %s %s\n%s; click: step this rank now", ready[i],
                    shot.rank(ready[i]).address.c_str(), shot.rank(ready[i]).op.c_str(),
                    i == 0 ? "the scheduler's choice" : "could go first instead");
      }
      if (i == 0 && ready.size() > 1) {
        ImGui::SameLine();
        frame.ui.text_dim("or");
      }
    }
    if (shown < ready.size()) {
      ImGui::SameLine();
      frame.ui.text_dim(fmt::format("and {} more", ready.size() - shown));
    }
    frame.ui.tag("schedule/next", fmt::format("r{}", ready.front()));
  }

  void draw_table(Frame& frame, const interp::Snapshot& shot, const Schedule& schedule) {
    constexpr ImGuiTableFlags kFlags =
        ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable("schedule", 5, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* title : {"position", "rank", "executes", "host clock"})
      ImGui::TableSetupColumn(title);
    ImGui::TableSetupColumn("could have moved instead", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableHeadersRow();
    const auto& rows = schedule.rows;
    const auto here =
        std::lower_bound(rows.begin(), rows.end(), shot.position.decision,
                         [](const Decision& d, uint64_t number) { return d.number < number; });
    const float line = ImGui::GetTextLineHeightWithSpacing() + frame.ui.px(2);
    if (seen_ != frame.model.generation()) {
      const auto index = static_cast<float>(here - rows.begin());
      ImGui::SetScrollY(std::max(0.0f, (index - 3) * line));
      seen_ = frame.model.generation();
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const Decision& d = rows[static_cast<size_t>(i)];
        draw_row(frame, schedule, d, here != rows.end() && &d == &*here,
                 d.number >= shot.position.decision);
      }
    }
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const Schedule& schedule, const Decision& d, bool next,
                       bool ahead) {
    const Palette& p = frame.ui.pal();
    ImGui::PushID(static_cast<int>(d.number));
    ImGui::TableNextRow();
    if (next) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, p.current_line);
    ImGui::PushStyleColor(ImGuiCol_Text, ahead && !next ? p.text_dim : p.text);
    ImGui::TableNextColumn();
    const std::string label = fmt::format("{}{}", next ? "\u25b6 " : "", d.number);
    if (ImGui::Selectable(
            label.c_str(), false,
            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap)) {
      frame.actions.command(fmt::format("goto {}", d.number));
      frame.model.selection.rank = d.rank;
      frame.model.selection.code = d.code;
    }
    frame.ui.tag(fmt::format("schedule/{}", d.number), fmt::format("r{}", d.rank));
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.rank = d.rank;
      frame.model.hovered.code = d.code;
      Ui::tooltip("click: go to this position%s", ahead ? " (it is ahead)" : "");
    }
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, p.rank(d.rank));
    frame.ui.text(fmt::format("\u25cf r{}", d.rank));
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
    if (d.code < schedule.names.size()) frame.ui.text_mono(schedule.names[d.code]);
    ImGui::TableNextColumn();
    frame.ui.text_mono(
        d.clock_ns == interp::kUnknownNs ? "-" : time_text(static_cast<double>(d.clock_ns)));
    ImGui::TableNextColumn();
    const std::string others = d.others.empty() ? "nobody" : ranks_text(d.others);
    frame.ui.text(others);
    frame.ui.tag(fmt::format("schedule/{}/others", d.number), others);
    ImGui::PopStyleColor();
    ImGui::PopID();
  }

  LogFetch<uint64_t, Schedule> fetch_{"schedule"};
  uint64_t seen_ = ~uint64_t{0};
};

}  // namespace

std::unique_ptr<Panel> make_schedule_panel() { return std::make_unique<SchedulePanel>(); }

}  // namespace hostir::gui
