// Every write of an element on every rank, oldest first, as the log has it: where a value came
// from.
#include <fmt/core.h>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"
#include "gui/panels/tensor_pick.h"

namespace hostir::gui {

namespace {

struct HistoryKey {
  std::string value;
  std::vector<int64_t> element;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const HistoryKey&, const HistoryKey&) = default;
};
struct HistoryData {
  bool known = false;  // the log has a tensor of this name
  std::vector<interp::LogValue> writes;
  std::vector<std::string> texts;  // of the instructions, by write
  std::vector<std::string> paths;
};

Expected<HistoryData> fetch(const interp::LogView& log, const HistoryKey& key,
                            const std::stop_token& stop) {
  HistoryData data;
  for (const interp::LogTensor& tensor : log.tensors()) {
    if (tensor.name != key.value) continue;
    data.known = true;
    const bool whole = key.element.size() != tensor.extents.size();
    HOSTIR_ASSIGN_OR_RETURN(auto writes,
                            log.writes(tensor.id, interp::kNoRank,
                                       whole ? std::nullopt : std::optional(key.element), stop));
    data.writes.insert(data.writes.end(), writes.begin(), writes.end());
  }
  for (const interp::LogValue& w : data.writes) {
    const auto& all = log.instructions();
    data.texts.push_back(w.instruction < all.size()
                             ? all[w.instruction].address + "  " + all[w.instruction].text
                             : "");
    data.paths.push_back(log.loop_path(w.loop_path));
  }
  return data;
}

class HistoryPanel : public Panel {
 public:
  std::string_view id() const override { return "history"; }
  std::string_view title() const override { return "History"; }
  std::string_view hint() const override {
    return "Every write of the selected tensor or element, on every rank, in order. Select an "
           "element in Values or "
           "Layout; click a row to see its instruction.";
  }

  void draw(Frame& frame) override {
    pick_tensor(frame, "history/tensor");
    const Selection& s = frame.model.selection;
    ImGui::SameLine();
    std::string what = "all elements";
    if (!s.element.empty()) {
      what = "element [";
      for (size_t d = 0; d < s.element.size(); ++d)
        what += fmt::format("{}{}", d ? ", " : "", s.element[d]);
      what += "]";
    }
    frame.ui.text_dim(what);
    frame.ui.tag("history/what", what);
    const HistoryKey key{s.value, s.element, frame.model.generation()};
    const HistoryData* data = fetch_.get(
        frame.model, key,
        [key](const interp::LogView& log, std::stop_token stop) { return fetch(log, key, stop); });
    if (!fetch_.error().empty()) return frame.ui.empty_hint(fetch_.error());
    if (!data)
      return frame.ui.empty_hint(fetch_.pending() ? "reading the log ..." : std::string(hint()));
    if (data->writes.empty()) {
      return frame.ui.empty_hint(data->known ? "Nothing has written it yet. " + std::string(hint())
                                             : std::string(hint()));
    }
    draw_table(frame, *data);
  }

 private:
  static void draw_table(Frame& frame, const HistoryData& data) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_Resizable;
    if (!ImGui::BeginTable("writes", 6, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"time", "rank", "value", "digest", "loop", "written by"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(data.writes.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, data, i);
    }
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const HistoryData& data, int i) {
    const auto index = static_cast<size_t>(i);
    const interp::LogValue& w = data.writes[index];
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string time = w.time_ns == interp::kUnknownNs
                                 ? "in flight"
                                 : fmt::format("{:.3f} us", static_cast<double>(w.time_ns) / 1000);
    if (ImGui::Selectable(time.c_str(), frame.model.selection.event == w.event,
                          ImGuiSelectableFlags_SpanAllColumns)) {
      frame.model.selection.event = w.event;
      frame.model.selection.code = w.instruction;
    }
    frame.ui.tag(fmt::format("history/{}", i), data.texts[index]);
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(w.rank));
    ImGui::Text("r%d", w.rank);
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
    frame.ui.text_mono(!w.element.empty() ? w.element
                       : w.has_stats      ? fmt::format("{:.4g} .. {:.4g}", w.min, w.max)
                                          : "-");
    ImGui::TableNextColumn();
    frame.ui.text_mono(w.digest ? fmt::format("{:08x}", w.digest & 0xffffffffu) : "-");
    ImGui::TableNextColumn();
    frame.ui.text_mono(data.paths[index]);
    ImGui::TableNextColumn();
    frame.ui.text_mono(data.texts[index]);
    ImGui::PopID();
  }

  LogFetch<HistoryKey, HistoryData> fetch_{"history"};
};

}  // namespace

std::unique_ptr<Panel> make_history_panel() { return std::make_unique<HistoryPanel>(); }

}  // namespace hostir::gui
