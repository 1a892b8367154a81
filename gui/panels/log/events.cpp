// The log's events as a table, with a filter language, page by page.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gui/panels/log/event_scan.h"
#include "gui/panels/log/log_fetch.h"
#include "hostir/support/text.h"
#include "interp/session/expressions/event_filter.h"

namespace hostir::gui {

namespace {

using interp::LogEvent;

class EventsPanel : public Panel {
 public:
  std::string_view id() const override { return "events"; }
  std::string_view title() const override { return "Events"; }
  std::string_view hint() const override {
    return "Every executed instruction on every rank. Filter with words that must all hold: "
           "rank=0,2 op=all_reduce dur>5us -stream=comm (the ? lists them). Click a row to select "
           "it everywhere, a header to sort.";
  }

  // The filter, the line of pages, the header and five rows.
  HeightRequest wanted_height(const Frame&) const override {
    constexpr float kRows = 6;
    HeightRequest wanted;
    wanted.fewest =
        2 * ImGui::GetFrameHeightWithSpacing() + kRows * ImGui::GetTextLineHeightWithSpacing();
    return wanted;
  }

  void draw(Frame& frame) override {
    if (std::exchange(opened_, frame.model.last_opened()) != frame.model.last_opened())
      starts_ = {0};
    draw_filter(frame);
    EventsKey key = wanted_;
    key.filter = filter_;
    key.first_id = starts_.back();
    key.generation = generation(frame);
    const EventsData* data = fetch_.get_in_pieces(frame.model, key, scan_for(frame, key));
    if (!fetch_.error().empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, fetch_.error());
      frame.ui.tag("events/error", fetch_.error());
      ImGui::PopTextWrapPos();
      draw_help(frame);
      return;
    }
    if (!data) return frame.ui.empty_hint(hint());
    draw_pages(frame, *data);
    if (data->rows->events.empty()) {
      if (!data->done) return frame.ui.empty_hint("No event so far matches.");
      return frame.ui.empty_hint(data->filtered ? "No event on this page matches."
                                                : std::string(hint()));
    }
    draw_table(frame, *data);
  }

 private:
  using Fetch = LogFetch<EventsKey, EventsData>;

  // Changes when there may be new events. While a large log is read, that is twice a second, but a
  // running search is finished first.
  uint64_t generation(const Frame& frame) {
    const uint64_t model = frame.model.generation() << 32;
    const bool reading = frame.model.worker().log_progress().reading;
    const uint64_t tick = reading ? 1 + static_cast<uint64_t>(frame.model.now_s() * 2) : 0;
    const bool same_run = generation_ >> 32 == model >> 32;
    if (!same_run || !reading || !fetch_.pending()) generation_ = model + tick;
    return generation_;
  }

  // When the same page is refreshed, show its old contents until the new ones are complete.
  auto scan_for(const Frame& frame, const EventsKey& key) const -> Fetch::Pieces {
    const EventsData* last = fetch_.last(frame.model);
    EventsKey known = last ? last->of : EventsKey{};
    known.generation = key.generation;
    const bool again = last && last->done && known == key;
    auto scan =
        std::make_shared<EventScan>(key, again ? EventScan::Show::kWhole : EventScan::Show::kParts);
    return
        [scan](const interp::LogView& log, std::stop_token stop) { return scan->next(log, stop); };
  }

  void draw_filter(Frame& frame) {
    ImGui::SetNextItemWidth(-frame.ui.px(30));
    if (ImGui::InputTextWithHint("##filter", "rank=0,2  op=all_reduce  dur>5us  -stream=comm",
                                 &filter_))
      starts_ = {0};
    frame.ui.tag("events/filter", filter_);
    ImGui::SameLine();
    if (ImGui::SmallButton("?")) ImGui::OpenPopup("filter help");
    frame.ui.tag("events/help");
    if (!ImGui::BeginPopup("filter help")) return;
    draw_help(frame);
    ImGui::EndPopup();
  }

  static void go_to(Frame& frame, const LogEvent& e, bool undone) {
    if (!undone) return frame.actions.command(fmt::format("goto {}", e.decision));
    frame.model.add_message(Message::Kind::kInfo,
                            fmt::format("Event {} was undone: the run went back before it and "
                                        "continued differently, so it has no position.",
                                        e.id));
  }

  static void draw_help(Frame& frame) {
    frame.ui.text_dim("Words that must all hold:");
    for (const interp::EventFilterHelp& help : interp::event_filter_help()) {
      frame.ui.text_mono(help.example);
      ImGui::SameLine(frame.ui.px(190));
      frame.ui.text_dim(help.meaning);
    }
  }

  void draw_pages(Frame& frame, const EventsData& data) {
    std::string text = counted(data.rows->events.size(), "event");
    const bool paged = starts_.size() > 1 || data.next_id >= 0;
    if (paged) text += fmt::format(" from event {}", starts_.back());
    if (paged || data.filtered) text += fmt::format(", {} in the log", data.total);
    if (!data.done)
      text += fmt::format(", searching: {} looked at", data.looked_at);
    else if (fetch_.pending())
      text += ", searching ...";
    frame.ui.text_dim(text);
    frame.ui.tag("events/count", text);
    if (!paged) return;
    frame.ui.say_hidden("events of other pages");
    const auto button = [&frame](bool there, const char* label, const char* name) {
      if (!there) return false;
      ImGui::SameLine();
      const bool clicked = ImGui::SmallButton(label);
      frame.ui.tag(name);
      return clicked;
    };
    if (button(starts_.size() > 1, "earlier", "events/earlier")) starts_.pop_back();
    if (button(data.next_id >= 0, "later", "events/later")) starts_.push_back(data.next_id);
    const int64_t selected = frame.model.selection.event;
    if (button(selected >= 0, "to the selected", "events/to_selected")) starts_ = {0, selected};
  }

  static std::string time_text(int64_t ns) {
    return ns == interp::kUnknownNs ? "-" : fmt::format("{:.3f}", static_cast<double>(ns) / 1000);
  }

  void draw_table(Frame& frame, const EventsData& data) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_Resizable | ImGuiTableFlags_Sortable;
    if (!ImGui::BeginTable("events", 8, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column :
         {"event", "rank", "instruction", "stream", "begin us", "length us", "waited us", "bytes"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    if (ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs(); specs && specs->SpecsCount > 0) {
      wanted_.sort = static_cast<EventColumn>(specs->Specs[0].ColumnIndex);
      wanted_.descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(data.rows->events.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, data, i);
    }
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const EventsData& data, int i) {
    const LogEvent& e = data.rows->events[static_cast<size_t>(i)];
    const bool undone = data.rows->undone[static_cast<size_t>(i)] != 0;
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (ImGui::Selectable(std::to_string(e.id).c_str(), frame.model.selection.event == e.id,
                          ImGuiSelectableFlags_SpanAllColumns)) {
      frame.model.selection.event = e.id;
      frame.model.selection.code = e.instruction;
      frame.model.selection.rank = e.rank;
    }
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.event = e.id;
      frame.model.hovered.code = e.instruction;
      if (ImGui::IsMouseDoubleClicked(0)) go_to(frame, e, undone);
    }
    frame.ui.tag(fmt::format("events/{}", i), std::to_string(e.id));
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(e.rank));
    frame.ui.text(fmt::format("r{}", e.rank));
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
    if (undone) {
      frame.ui.text_dim(fmt::format("undone, branch {}: ", e.branch));
      frame.ui.tag(fmt::format("events/{}/undone", i), std::to_string(e.branch));
      ImGui::SameLine(0, 0);
    }
    if (e.instruction < data.names->texts.size())
      frame.ui.text_mono(data.names->texts[e.instruction]);
    ImGui::TableNextColumn();
    const auto stream = static_cast<size_t>(e.stream + 1);
    const std::vector<std::string>& streams = data.names->streams;
    frame.ui.text_dim(stream < streams.size() ? streams[stream] : "?");
    ImGui::TableNextColumn();
    frame.ui.text_mono(time_text(e.begin_ns()));
    ImGui::TableNextColumn();
    const int64_t duration = duration_of(e);
    frame.ui.text_mono(duration < 0 ? "in flight" : time_text(duration));
    ImGui::TableNextColumn();
    frame.ui.text_mono(e.waited_ns > 0 ? time_text(e.waited_ns) : "");
    ImGui::TableNextColumn();
    frame.ui.text_mono(e.bytes > 0 ? std::to_string(e.bytes) : "");
    ImGui::PopID();
  }

  std::string filter_;
  uint64_t opened_ = 0;
  EventsKey wanted_;                   // the requested sort order
  std::vector<int64_t> starts_ = {0};  // first ids of the pages up to this one
  uint64_t generation_ = 0;
  Fetch fetch_{"events"};
};

}  // namespace

std::unique_ptr<Panel> make_events_panel() { return std::make_unique<EventsPanel>(); }

}  // namespace hostir::gui
