// Every write of an element on every rank, oldest first, and where each value came from.
#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/history_data.h"
#include "gui/panels/layout_geometry.h"
#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"
#include "gui/panels/tensor_pick.h"
#include "gui/panels/value_text.h"

namespace hostir::gui {

namespace {

class HistoryPanel : public Panel {
 public:
  std::string_view id() const override { return "history"; }
  std::string_view title() const override { return "History"; }
  std::string_view hint() const override {
    return "Every write of the selected tensor or element, on every rank, in order, and below each "
           "where its value came from: addends and blocks of other ranks, operands of kernels. "
           "Select an element in Values or Layout; click a row to go to its instruction.";
  }

  void draw(Frame& frame) override {
    pick_tensor(frame, "history/tensor");
    const Selection& s = frame.model.selection;
    ImGui::SameLine();
    std::string what = "all elements";
    if (!s.element.empty()) what = "element " + index_to_string(s.element);
    frame.ui.text_dim(what);
    frame.ui.tag("history/what", what);
    if (!s.element.empty()) {
      ImGui::SameLine();
      if (ImGui::SmallButton("all")) frame.model.selection.element.clear();
      frame.ui.tag("history/all");
    }
    ImGui::SameLine();
    ImGui::Checkbox("sources", &show_sources_);
    frame.ui.tag("history/sources", show_sources_ ? "on" : "off");
    const HistoryKey key{s.value, s.element, frame.model.generation()};
    const auto program = frame.model.snapshot()->program;
    const HistoryData* data = fetch_.get(
        frame.model, key, [key, program](const interp::LogView& log, const std::stop_token& stop) {
          return make_history(log, *program, key, stop);
        });
    if (!fetch_.error().empty()) return frame.ui.empty_hint(fetch_.error());
    if (!data)
      return frame.ui.empty_hint(fetch_.pending() ? "reading the log ..." : std::string(hint()));
    if (data->rows.empty()) {
      return frame.ui.empty_hint(data->known ? "Nothing has written it yet. " + std::string(hint())
                                             : std::string(hint()));
    }
    if (data->cut > 0) frame.ui.say_hidden(fmt::format("where {} writes came from", data->cut));
    draw_table(frame, *data);
  }

 private:
  void draw_table(Frame& frame, const HistoryData& data) {
    std::vector<size_t> rows;
    for (size_t i = 0; i < data.rows.size(); ++i) {
      if (show_sources_ || data.rows[i].depth == 0) rows.push_back(i);
    }
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_Resizable;
    if (!ImGui::BeginTable("writes", 6, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"time", "rank", "what", "value", "loop", "written by"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, data.rows[rows[static_cast<size_t>(i)]], i);
    }
    ImGui::EndTable();
  }

  static std::string value_of(const HistoryRow& row) {
    const interp::LogValue& w = row.write;
    if (!row.written) return "";
    std::string text = !w.element.empty() ? w.element : "";
    if (text.empty() && w.has_stats)
      text = w.min == w.max ? fmt::format("{:.6g} everywhere", w.min)
                            : fmt::format("{:.4g} .. {:.4g}", w.min, w.max);
    if (w.nan_count + w.inf_count > 0)
      text += fmt::format("  NaN {} Inf {}", w.nan_count, w.inf_count);
    if (text.empty()) text = w.digest ? fmt::format("#{:08x}", w.digest & 0xffffffffu) : "-";
    return text;
  }

  // The element itself: from the log where it kept the data, from the session where it still holds.
  static std::string value_now(Frame& frame, const HistoryRow& row) {
    const std::vector<int64_t>& element = frame.model.selection.element;
    if (!row.newest || !row.follows || !row.write.element.empty() || element.empty())
      return value_of(row);
    interp::ValueQuery query;
    query.value = row.value;
    query.rank = row.write.rank;
    Box box{element, element};
    for (int64_t& hi : box.hi) ++hi;
    query.box = box;
    const ReadingSlot& slot = frame.model.reading(query);
    if (!slot.reading || slot.reading->undefined || slot.reading->write_in_flight ||
        slot.reading->tensor.element_count() != 1)
      return value_of(row);
    return value_text(slot.reading->tensor, 0, ValueFormat::kDecimal);
  }

  static void draw_row(Frame& frame, const HistoryRow& row, int i) {
    const interp::LogValue& w = row.write;
    const Palette& p = frame.ui.pal();
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string time = !row.written ? "-"
                             : w.time_ns == interp::kUnknownNs
                                 ? "in flight"
                                 : fmt::format("{:.3f} us", static_cast<double>(w.time_ns) / 1000);
    const bool selected = row.written && frame.model.selection.event == w.event;
    if (ImGui::Selectable(time.c_str(), selected, ImGuiSelectableFlags_SpanAllColumns)) {
      if (row.written) {
        frame.model.selection.event = w.event;
        frame.model.selection.code = w.instruction;
      }
      // A source of another name is followed: its own history is shown.
      if (frame.model.selection.value != row.value) {
        frame.model.selection.value = row.value;
        if (!row.follows) frame.model.selection.element.clear();
      }
    }
    frame.ui.tag(fmt::format("history/{}", i),
                 row.relation + " %" + row.value + "  " + row.instruction);
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = w.rank;
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, p.rank(w.rank));
    ImGui::Text("r%d", w.rank);
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
    const std::string indent(static_cast<size_t>(row.depth) * 2, ' ');
    const std::string what = row.depth == 0
                                 ? "%" + row.value
                                 : fmt::format("{}\u2514 {} %{}", indent, row.relation, row.value);
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGui::PushStyleColor(ImGuiCol_Text, row.depth == 0 ? p.text_strong : p.text_dim);
    ImGui::TextUnformatted(what.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    ImGui::TableNextColumn();
    const std::string value = value_now(frame, row);
    frame.ui.text_mono(value);
    frame.ui.tag(fmt::format("history/{}/value", i), value);
    ImGui::TableNextColumn();
    frame.ui.text_mono(row.loop);
    ImGui::TableNextColumn();
    frame.ui.text_mono(row.written ? row.instruction : "nobody: a parameter, or not in the log");
    ImGui::PopID();
  }

  bool show_sources_ = true;
  LogFetch<HistoryKey, HistoryData> fetch_{"history"};
};

}  // namespace

std::unique_ptr<Panel> make_history_panel() { return std::make_unique<HistoryPanel>(); }

}  // namespace hostir::gui
