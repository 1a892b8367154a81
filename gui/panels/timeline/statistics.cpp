// How often each instruction ran and how long it took, as a table and a histogram.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "gui/panels/timeline/duration_histogram.h"
#include "gui/panels/timeline/statistics_data.h"
#include "gui/panels/timeline/timeline_data.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::CodeIndex;
using interp::Durations;

enum class StatisticsColumn : int {
  kName,
  kTimes,
  kTotal,
  kShare,
  kMean,
  kMedian,
  kLeast,
  kMost,
  kDeviation,
  kPlace
};
constexpr std::pair<const char*, const char*> kStatisticsColumns[] = {
    {"instruction", ""},
    {"times", "how often it ran"},
    {"total", "sum of its durations"},
    {"%", "share of the sum of all rows"},
    {"mean", ""},
    {"median", "within 6 % of the exact one"},
    {"shortest", ""},
    {"longest", ""},
    {"deviation", "standard deviation"},
    {"at", "function and number of the instruction"},
};

double statistic_of(const Durations& d, StatisticsColumn column) {
  switch (column) {
    case StatisticsColumn::kTimes:
      return static_cast<double>(d.count());
    case StatisticsColumn::kTotal:
    case StatisticsColumn::kShare:
      return static_cast<double>(d.total_ns());
    case StatisticsColumn::kMean:
      return d.mean_ns();
    case StatisticsColumn::kMedian:
      return d.median_ns();
    case StatisticsColumn::kLeast:
      return static_cast<double>(d.least_ns());
    case StatisticsColumn::kMost:
      return static_cast<double>(d.most_ns());
    case StatisticsColumn::kDeviation:
      return d.deviation_ns();
    case StatisticsColumn::kName:
    case StatisticsColumn::kPlace:
      break;
  }
  return 0;
}

class StatisticsPanel : public Panel {
 public:
  std::string_view id() const override { return "statistics"; }
  std::string_view title() const override { return "Statistics"; }
  std::string_view hint() const override {
    return "How often each instruction ran and how long it took, with a histogram of the selected "
           "one. A range marked in the timeline (Ctrl+drag) limits both.";
  }

  void draw(Frame& frame) override {
    if (frame.model.snapshot()->last_decision == 0) return frame.ui.empty_hint(hint());
    const TimelineNames* names = names_.get(frame.model, frame.model.last_opened(),
                                            [](const interp::LogView& log, std::stop_token) {
                                              return Expected<TimelineNames>(fetch_names(log));
                                            });
    draw_choices(frame);
    const StatisticsKey key = wanted(frame);
    auto scan = std::make_shared<StatisticsScan>(key);
    const StatisticsData* data = fetch_.get_in_pieces(
        frame.model, key,
        [scan](const interp::LogView& log, std::stop_token stop) { return scan->next(log, stop); });
    if (!fetch_.error().empty()) return frame.ui.state_word(StateKind::kFailed, fetch_.error());
    if (!names || !data) return frame.ui.text_dim("reading ...");
    draw_state(frame, *data);
    choose_rows(frame, *data, *names);
    const Durations* selected = selected_of(frame, *data);
    const float below = selected ? frame.ui.px(kHistogramHeight) : 0;
    const float room = ImGui::GetContentRegionAvail().y;
    const bool fits = selected && room - below > frame.ui.px(70);
    draw_table(frame, *data, *names, fits ? room - below : room);
    if (fits) draw_selected(frame, *selected, *names);
  }

 private:
  void draw_choices(Frame& frame) {
    const float width = ImGui::GetContentRegionAvail().x;
    const float field = std::clamp(width * 0.3f, frame.ui.px(80), frame.ui.px(220));
    ImGui::SetNextItemWidth(field);
    ImGui::InputTextWithHint("##filter", field < frame.ui.px(130) ? "filter" : "filter: all_reduce",
                             &filter_);
    frame.ui.tag("statistics/filter", filter_);
    Ui::flow(frame.ui.px(90));
    if (ImGui::SmallButton(hosts_ ? "Of hosts" : "Of streams")) hosts_ = !hosts_;
    frame.ui.tag("statistics/side", hosts_ ? "hosts" : "streams");
    if (ImGui::IsItemHovered())
      Ui::tooltip("%s", hosts_ ? "What the hosts did: time spent issuing and waiting"
                               : "What the streams executed: kernels, communication");
    Ui::flow(frame.ui.px(90));
    if (ImGui::SmallButton(focus_only_ ? fmt::format("Rank {}", focus(frame)).c_str()
                                       : "All ranks"))
      focus_only_ = !focus_only_;
    frame.ui.tag("statistics/ranks", focus_only_ ? "focus" : "all");
    if (ImGui::IsItemHovered()) Ui::tooltip("All ranks together, or the rank in view");
    if (!frame.model.timeline_range) return;
    Ui::flow(frame.ui.px(130));
    ImGui::Checkbox("marked range", &in_range_);
    frame.ui.tag("statistics/range", in_range_ ? "on" : "off");
    if (ImGui::IsItemHovered()) Ui::tooltip("Only what begins in the range marked in the timeline");
  }

  static interp::Rank focus(const Frame& frame) { return frame.model.snapshot()->focus; }

  // While a log is read or followed, the query is repeated, but not before it was answered.
  StatisticsKey wanted(const Frame& frame) {
    StatisticsKey key;
    key.hosts = hosts_;
    if (focus_only_) key.rank = focus(frame);
    if (frame.model.timeline_range && in_range_)
      std::tie(key.from_ns, key.to_ns) = *frame.model.timeline_range;
    const bool reading = frame.model.worker().log_progress().reading;
    const uint64_t tick = reading ? 1 + static_cast<uint64_t>(frame.model.now_s()) : 0;
    // The key changes when events are recorded, not when the position moves.
    const uint64_t generation = (frame.model.last_opened() << 48) + (tick << 40) +
                                frame.model.worker().followed_generation() +
                                frame.model.snapshot()->last_decision;
    if (!fetch_.pending() || !reading) generation_ = generation;
    key.generation = generation_;
    return key;
  }

  void draw_state(Frame& frame, const StatisticsData& data) const {
    std::string text;
    if (data.lanes_read < data.lanes)
      text = fmt::format("reading: {} of {} lanes", data.lanes_read, data.lanes);
    else
      text = fmt::format("{} in {} lanes", time_text(data.total_ns), data.lanes);
    Ui::flow(ImGui::CalcTextSize(text.c_str()).x);
    frame.ui.text_dim(text);
    frame.ui.tag("statistics/state", text);
  }

  // The rows that pass the filter, in the chosen order.
  void choose_rows(Frame& frame, const StatisticsData& data, const TimelineNames& names) {
    frame.ui.tag_rect("statistics/count", {}, {}, std::to_string(rows_.size()));
    const auto chosen_by = std::tuple(data.by_instruction, filter_, sort_, descending_);
    if (std::exchange(chosen_by_, chosen_by) == chosen_by) return;
    rows_.clear();
    const auto& all = *data.by_instruction;
    for (size_t i = 0; i < all.size() && i < names.names.size(); ++i) {
      if (all[i].count() == 0) continue;
      const bool matches = filter_.empty() || names.names[i].find(filter_) != std::string::npos ||
                           names.texts[i].find(filter_) != std::string::npos;
      if (matches) rows_.push_back(static_cast<CodeIndex>(i));
    }
    std::stable_sort(rows_.begin(), rows_.end(), [&](CodeIndex a, CodeIndex b) {
      if (sort_ == StatisticsColumn::kPlace) return descending_ ? b < a : a < b;
      if (sort_ == StatisticsColumn::kName)
        return descending_ ? names.names[b] < names.names[a] : names.names[a] < names.names[b];
      const double left = statistic_of(all[a], sort_);
      const double right = statistic_of(all[b], sort_);
      return descending_ ? left > right : left < right;
    });
  }

  void draw_table(Frame& frame, const StatisticsData& data, const TimelineNames& names,
                  float height) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_Sortable |
                                       ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_Resizable;
    constexpr int kCount = static_cast<int>(std::size(kStatisticsColumns));
    const float panel = ImGui::GetContentRegionAvail().x;
    if (!ImGui::BeginTable("statistics", kCount, kFlags, ImVec2(0, height))) return;
    ImGui::TableSetupScrollFreeze(1, 1);
    for (int c = 0; c < kCount; ++c) {
      ImGuiTableColumnFlags flags = ImGuiTableColumnFlags_PreferSortDescending;
      if (static_cast<StatisticsColumn>(c) == StatisticsColumn::kTotal)
        flags |= ImGuiTableColumnFlags_DefaultSort;
      const auto column = static_cast<StatisticsColumn>(c);
      const char* name = kStatisticsColumns[c].first;
      float width = 0;  // as the contents need
      if (column == StatisticsColumn::kName && panel < frame.ui.px(620)) {
        // In a narrow panel long names leave room for the numbers.
        width = std::min(frame.ui.px(150), panel * 0.4f);
      } else if (column != StatisticsColumn::kName && column != StatisticsColumn::kPlace) {
        // Cells are aligned to the right of their column, so they cannot widen it.
        width = std::max(ImGui::CalcTextSize("888.88 ms").x,
                         ImGui::CalcTextSize(name).x + frame.ui.px(14));
      }
      ImGui::TableSetupColumn(name, flags, width);
    }
    draw_headers(frame);
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs && specs->SpecsCount > 0) {
      sort_ = static_cast<StatisticsColumn>(specs->Specs->ColumnIndex);
      descending_ = specs->Specs->SortDirection == ImGuiSortDirection_Descending;
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, data, names, i);
    }
    ImGui::EndTable();
  }

  static void draw_headers(Frame& frame) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int c = 0; c < static_cast<int>(std::size(kStatisticsColumns)); ++c) {
      ImGui::TableSetColumnIndex(c);
      ImGui::TableHeader(kStatisticsColumns[c].first);
      frame.ui.tag(fmt::format("statistics/by/{}", kStatisticsColumns[c].first));
      if (ImGui::IsItemHovered() && kStatisticsColumns[c].second[0] != '\0')
        Ui::tooltip("%s", kStatisticsColumns[c].second);
    }
  }

  void draw_row(Frame& frame, const StatisticsData& data, const TimelineNames& names, int row) {
    const CodeIndex code = rows_[static_cast<size_t>(row)];
    const Durations& d = (*data.by_instruction)[code];
    ImGui::PushID(row);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float side = ImGui::GetTextLineHeight() * 0.6f;
    const float y = at.y + (ImGui::GetTextLineHeight() - side) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, y), ImVec2(at.x + side, y + side),
                                              frame.ui.pal().event(kind_of(names, code)));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side + frame.ui.px(5));
    const std::string name = names.glyphs[code].empty()
                                 ? names.names[code]
                                 : names.glyphs[code] + " " + names.names[code];
    const bool selected = frame.model.selection.code == code;
    const ImVec2 name_at = ImGui::GetCursorScreenPos();
    const float name_space = ImGui::GetContentRegionAvail().x;
    ImGui::Dummy(ImGui::CalcTextSize(name.c_str()));  // makes the column as wide as the whole name
    ImGui::SetCursorScreenPos(name_at);
    if (ImGui::Selectable("##name", selected, ImGuiSelectableFlags_SpanAllColumns))
      frame.model.selection.code = code;
    frame.ui.draw_elided(ImGui::GetWindowDrawList(), name_at, frame.ui.pal().text, name,
                         name_space);
    frame.ui.copyable(name);
    // The row is wider than the panel; only its beginning is always in view.
    frame.ui.tag_rect(fmt::format("statistics/{}", row), at,
                      ImVec2(at.x + frame.ui.px(60), at.y + ImGui::GetTextLineHeight()), name);
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.code = code;
      Ui::tooltip("%s\nclick: select it, with its histogram", names.texts[code].c_str());
    }
    const double share = data.total_ns > 0 ? 100.0 * static_cast<double>(d.total_ns()) /
                                                 static_cast<double>(data.total_ns)
                                           : 0;
    const std::string cells[] = {std::to_string(d.count()),    time_text(d.total_ns()),
                                 fmt::format("{:.1f}", share), time_text(d.mean_ns()),
                                 time_text(d.median_ns()),     time_text(d.least_ns()),
                                 time_text(d.most_ns()),       time_text(d.deviation_ns())};
    for (size_t c = 0; c < std::size(cells); ++c) {
      ImGui::TableNextColumn();
      const float width = ImGui::CalcTextSize(cells[c].c_str()).x;
      const float space = ImGui::GetContentRegionAvail().x - width;
      if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
      // A time without its unit could be misread.
      const float end = ImGui::GetCursorScreenPos().x + width;
      const bool whole = end <= ImGui::GetWindowDrawList()->GetClipRectMax().x;
      frame.ui.text(whole ? cells[c] : "\u2026");
      if (row < 3)
        frame.ui.tag(fmt::format("statistics/{}/{}", row, kStatisticsColumns[c + 1].first),
                     cells[c]);
    }
    ImGui::TableNextColumn();
    frame.ui.text_dim(names.addresses[code]);
    ImGui::PopID();
  }

  static EventKind kind_of(const TimelineNames& names, CodeIndex code) {
    return code < names.kinds.size() ? names.kinds[code] : EventKind::kHost;
  }

  static const Durations* selected_of(const Frame& frame, const StatisticsData& data) {
    const auto& code = frame.model.selection.code;
    if (!code || *code >= data.by_instruction->size()) return nullptr;
    const Durations& d = (*data.by_instruction)[*code];
    return d.count() > 0 ? &d : nullptr;
  }

  static void draw_selected(Frame& frame, const Durations& d, const TimelineNames& names) {
    const CodeIndex code = *frame.model.selection.code;
    const Palette& p = frame.ui.pal();
    frame.ui.text_mono(names.names[code]);
    const auto coloured = [&](const std::string& text, ImU32 colour) {
      Ui::flow(ImGui::CalcTextSize(text.c_str()).x);
      ImGui::PushStyleColor(ImGuiCol_Text, colour);
      frame.ui.text(text);
      ImGui::PopStyleColor();
    };
    coloured("mean " + time_text(d.mean_ns()), p.playhead);
    coloured("median " + time_text(d.median_ns()), p.link);
    const auto go = [&](const char* label, int64_t event, const char* name) {
      Ui::flow(frame.ui.px(70));
      if (ImGui::SmallButton(label)) frame.model.selection.event = event;
      frame.ui.tag(name);
      if (ImGui::IsItemHovered()) Ui::tooltip("Select this event, in the timeline too");
    };
    go("Longest", d.longest_event(), "statistics/longest");
    go("Shortest", d.shortest_event(), "statistics/shortest");
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_histogram(frame, d, ImVec2(room.x, std::max(frame.ui.px(30), room.y)),
                   p.event(kind_of(names, code)));
  }

  static constexpr float kHistogramHeight = 110;
  LogFetch<uint64_t, TimelineNames> names_{"statistics/names"};
  LogFetch<StatisticsKey, StatisticsData> fetch_{"statistics"};
  std::string filter_;
  bool hosts_ = false;
  bool focus_only_ = false;
  bool in_range_ = true;
  uint64_t generation_ = 0;
  StatisticsColumn sort_ = StatisticsColumn::kTotal;
  bool descending_ = true;
  std::vector<CodeIndex> rows_;
  std::tuple<std::shared_ptr<const std::vector<Durations>>, std::string, StatisticsColumn, bool>
      chosen_by_;
};

}  // namespace

std::unique_ptr<Panel> make_statistics_panel() { return std::make_unique<StatisticsPanel>(); }

}  // namespace hostir::gui
