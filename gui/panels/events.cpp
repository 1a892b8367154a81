// The log's events as a table, with a filter in the words of break conditions.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include <charconv>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

struct EventsKey {
  std::string filter;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const EventsKey&, const EventsKey&) = default;
};
struct EventsData {
  std::vector<interp::LogEvent> events;
  std::vector<std::string> texts;
  bool cut = false;
};

constexpr int64_t kMaxEvents = 100000;

// `rank=1,3 op=all_reduce stream=comm #4..#9 after=100us before=2ms`: words that must all hold.
Expected<interp::EventFilter> parse_filter(const std::string& text, const interp::LogView& log) {
  interp::EventFilter filter;
  filter.limit = kMaxEvents;
  size_t begin = 0;
  const auto bad = [](const std::string& word) {
    return fail(ErrorKind::kUsage, "filter",
                "\"" + word +
                    "\": write rank=0,2  op=all_reduce,launch  stream=comm  at=@f#9  after=100  "
                    "before=2000 (ns)");
  };
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return bad(word);
    const std::string key = word.substr(0, equals);
    size_t at = equals + 1;
    while (at <= word.size()) {
      const size_t comma = std::min(word.find(',', at), word.size());
      const std::string value = word.substr(at, comma - at);
      at = comma + 1;
      int64_t number = 0;
      const auto [p, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      const bool is_number = error == std::errc() && p == value.data() + value.size();
      if (key == "rank" && is_number) {
        filter.ranks.push_back(static_cast<interp::Rank>(number));
      } else if (key == "op" && !value.empty()) {
        filter.mnemonics.push_back(value);
      } else if (key == "stream") {
        for (const interp::LogTrack& track : log.tracks()) {
          if (track.name == value) filter.streams.push_back(track.stream);
        }
        if (filter.streams.empty()) return bad(word);
      } else if (key == "at") {
        for (size_t i = 0; i < log.instructions().size(); ++i) {
          if (log.instructions()[i].address == value)
            filter.instructions.push_back(static_cast<interp::CodeIndex>(i));
        }
        if (filter.instructions.empty()) return bad(word);
      } else if (key == "after" && is_number) {
        filter.from_ns = number;
      } else if (key == "before" && is_number) {
        filter.to_ns = number;
      } else {
        return bad(word);
      }
    }
  }
  return filter;
}

class EventsPanel : public Panel {
 public:
  std::string_view id() const override { return "events"; }
  std::string_view title() const override { return "Events"; }
  std::string_view hint() const override {
    return "Every executed instruction on every rank. Filter with words: rank=0,2 op=all_reduce "
           "stream=comm at=@f#9. "
           "Click a row to select it everywhere.";
  }

  void draw(Frame& frame) override {
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##filter", "rank=0,2 op=all_reduce stream=comm after=1000", &filter_);
    frame.ui.tag("events/filter", filter_);
    const EventsKey key{filter_, frame.model.generation()};
    const EventsData* data = fetch_.get(
        frame.model, key,
        [key](const interp::LogView& log, std::stop_token stop) -> Expected<EventsData> {
          HOSTIR_ASSIGN_OR_RETURN(const interp::EventFilter filter, parse_filter(key.filter, log));
          EventsData out;
          HOSTIR_ASSIGN_OR_RETURN(out.events, log.events(filter, stop));
          for (const interp::LogInstruction& i : log.instructions())
            out.texts.push_back(i.address + "  " + i.text);
          out.cut = static_cast<int64_t>(out.events.size()) >= kMaxEvents;
          return out;
        });
    if (!fetch_.error().empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, fetch_.error());
      frame.ui.tag("events/error", fetch_.error());
      ImGui::PopTextWrapPos();
      return;
    }
    if (!data) return frame.ui.empty_hint(hint());
    const std::string count =
        fmt::format("{} events{}", data->events.size(),
                    data->cut ? " (the first; narrow the filter to see others)" : "");
    frame.ui.text_dim(count);
    frame.ui.tag("events/count", count);
    if (data->events.empty()) return frame.ui.empty_hint(hint());
    draw_table(frame, *data);
  }

 private:
  static std::string time_text(int64_t ns) {
    return ns == interp::kUnknownNs ? "-" : fmt::format("{:.3f}", static_cast<double>(ns) / 1000);
  }

  static void draw_table(Frame& frame, const EventsData& data) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_Resizable;
    if (!ImGui::BeginTable("events", 7, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column :
         {"event", "rank", "begin us", "end us", "waited us", "bytes", "instruction"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(data.events.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const interp::LogEvent& e = data.events[static_cast<size_t>(i)];
        ImGui::PushID(i);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        if (ImGui::Selectable(std::to_string(e.id).c_str(), frame.model.selection.event == e.id,
                              ImGuiSelectableFlags_SpanAllColumns)) {
          frame.model.selection.event = e.id;
          frame.model.selection.code = e.instruction;
          frame.model.selection.rank = e.rank;
        }
        frame.ui.tag(fmt::format("events/{}", i));
        ImGui::TableNextColumn();
        ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(e.rank));
        ImGui::Text("r%d", e.rank);
        ImGui::PopStyleColor();
        ImGui::TableNextColumn();
        frame.ui.text_mono(time_text(e.begin_ns()));
        ImGui::TableNextColumn();
        frame.ui.text_mono(time_text(e.end_ns()));
        ImGui::TableNextColumn();
        frame.ui.text_mono(e.waited_ns > 0 ? time_text(e.waited_ns) : "");
        ImGui::TableNextColumn();
        frame.ui.text_mono(e.bytes > 0 ? std::to_string(e.bytes) : "");
        ImGui::TableNextColumn();
        if (e.instruction < data.texts.size()) frame.ui.text_mono(data.texts[e.instruction]);
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
  }

  std::string filter_;
  LogFetch<EventsKey, EventsData> fetch_{"events"};
};

}  // namespace

std::unique_ptr<Panel> make_events_panel() { return std::make_unique<EventsPanel>(); }

}  // namespace hostir::gui
