// What happens inside one instruction for one element: the ops of a launch, or the addends of a
// collective.
#include <fmt/core.h>

#include "gui/panels/inside/inside_query.h"
#include "gui/panels/panels.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::Inside;
using interp::InsideAddend;
using interp::InsideOperand;
using interp::InsideStep;
using interp::InsideTerm;

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_NoHostExtendX |
                                   ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerV;

class InsidePanel : public Panel {
 public:
  std::string_view id() const override { return "inside"; }
  std::string_view title() const override { return "Inside"; }
  std::string_view hint() const override {
    return "What happens inside an instruction for one element: each op of a launch with what it "
           "reads and computes, or the members' elements in a collective, the order in which they "
           "are added, and which ranks have arrived. Step to a launch or collective, or select one "
           "in the program; "
           "select another element in Values or Layout.";
  }

  void draw(Frame& frame) override {
    const Inside* inside = fetch_.get(frame.model);
    if (!fetch_.error().empty()) {
      ImGui::TextWrapped("%s.", fetch_.error().c_str());
      frame.ui.tag("inside/error", fetch_.error());
      return frame.ui.empty_hint(hint());
    }
    if (!inside) return frame.ui.empty_hint(fetch_.pending() ? "computing ..." : hint());
    draw_head(frame, *inside);
    if (inside->kind == Inside::Kind::kNothing) {
      draw_notes(frame, *inside);
      return frame.ui.empty_hint(hint());
    }
    draw_notes(frame, *inside);
    row_ = 0;
    ImGui::BeginChild("inside/body", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    if (inside->kind == Inside::Kind::kLaunch) draw_steps(frame, *inside);
    if (inside->kind == Inside::Kind::kCollective) {
      draw_addends(frame, *inside);
      draw_members(frame, *inside);
      for (const interp::InsideFact& fact : inside->facts) {
        frame.ui.text_dim(fact.name + ":");
        ImGui::SameLine();
        ImGui::TextWrapped("%s", fact.text.c_str());
        frame.ui.tag("inside/" + fact.name, fact.text);
      }
    }
    ImGui::EndChild();
  }

 private:
  void draw_head(Frame& frame, const Inside& inside) const {
    if (inside.address.empty()) return;
    frame.ui.text_mono(inside.address + "  " + inside.text);
    frame.ui.tag("inside/instruction", inside.address);
    if (ImGui::IsItemClicked()) frame.model.selection.code = inside.code;
    if (ImGui::IsItemHovered())
      Ui::tooltip("%s",
                  fetch_.follows_selection()
                      ? "The selected instruction; after a step, the rank's current one again."
                      : "The current instruction of the focus rank.");
    if (inside.kind == Inside::Kind::kNothing || inside.value.empty()) return;
    InsideOperand made;
    made.value = inside.value;
    made.of_host = true;
    made.rank = inside.rank;
    made.element = inside.element;
    made.place = inside.element.empty() ? "" : index_text(inside.element);
    made.number = inside.number.empty() ? inside.held : inside.number;
    draw_operand(frame, made, "inside/element");
    ImGui::SameLine();
    frame.ui.rank_chip(inside.rank, false, "inside/rank");
    Ui::flow(ImGui::CalcTextSize(inside.moment.c_str()).x);
    frame.ui.text_dim(inside.moment);
    frame.ui.tag("inside/moment", inside.moment);
  }

  static void draw_notes(Frame& frame, const Inside& inside) {
    for (size_t i = 0; i < inside.notes.size(); ++i) {
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().text_dim);
      ImGui::TextWrapped("%s", inside.notes[i].c_str());
      ImGui::PopStyleColor();
      frame.ui.tag(fmt::format("inside/note/{}", i), inside.notes[i]);
    }
  }

  // `%x[2, 17] = 0.5`; for a buffer, a link that selects the element.
  static void draw_operand(Frame& frame, const InsideOperand& operand, const std::string& name) {
    const Palette& p = frame.ui.pal();
    std::string text = "%" + operand.value + operand.place;
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGui::PushStyleColor(ImGuiCol_Text, operand.of_host ? p.link : p.text);
    frame.ui.text(text);
    ImGui::PopStyleColor();
    const bool clicked = ImGui::IsItemClicked();
    const ImVec2 at = ImGui::GetItemRectMin();
    const ImVec2 link_end = ImGui::GetItemRectMax();
    if (operand.of_host && ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!operand.number.empty()) {
      ImGui::SameLine(0, 0);
      ImGui::PushStyleColor(ImGuiCol_Text, operand.not_finite ? p.nan : p.text_strong);
      frame.ui.text(" = " + operand.number);
      ImGui::PopStyleColor();
      text += " = " + operand.number;
    }
    ImGui::PopFont();
    frame.ui.tag_rect(name, at, link_end, text);
    if (!clicked || !operand.of_host) return;
    frame.model.selection.value = operand.value;
    frame.model.selection.element = operand.count == 1 ? operand.element : std::vector<int64_t>{};
    frame.model.selection.rank = operand.rank;
    frame.model.followed.on = false;
  }

  void draw_reads(Frame& frame, const std::vector<InsideOperand>& reads, const char* between) {
    int i = 0;
    for (const InsideOperand& operand : reads) {
      if (operand.place.empty() && operand.value.empty()) continue;
      if (i > 0) {
        ImGui::SameLine(0, 0);
        frame.ui.text_dim(between);
        ImGui::SameLine(0, 0);
      }
      draw_operand(frame, operand, fmt::format("inside/{}/reads/{}", row_, i++));
    }
  }

  void draw_steps(Frame& frame, const Inside& inside) {
    if (!ImGui::BeginTable("steps", 3, kTable)) return;
    for (const char* column : {"op", "gives", "reads"}) ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    for (const InsideStep& step : inside.steps) draw_step(frame, step);
    ImGui::EndTable();
  }

  void draw_step(Frame& frame, const InsideStep& step) {
    begin_row();
    frame.ui.text_mono(step.op);
    frame.ui.tag(fmt::format("inside/{}", row_), step.text);
    if (ImGui::IsItemHovered()) Ui::tooltip("%s", step.text.c_str());
    ImGui::TableNextColumn();
    draw_operand(frame, step.made, fmt::format("inside/{}/gives", row_));
    ImGui::TableNextColumn();
    draw_reads(frame, step.reads, ", ");
    end_row();
    if (!step.terms) return;
    const interp::InsideTerms& terms = *step.terms;
    if (terms.not_finite) draw_term(frame, *terms.not_finite, terms.products, true);
    for (size_t i = 0; i < terms.largest.size(); ++i) {
      if (i == 0) draw_line(frame, fmt::format("  {} terms, the largest:", terms.count), "");
      draw_term(frame, terms.largest[i], terms.products, false);
    }
    for (const interp::InsideBlock& b : terms.blocks)
      draw_line(frame, fmt::format("  terms {} to {}", b.first, b.last - 1), b.sum);
  }

  void draw_line(Frame& frame, const std::string& what, const std::string& number) {
    begin_row();
    frame.ui.text_dim(what);
    frame.ui.tag(fmt::format("inside/{}", row_), what);
    ImGui::TableNextColumn();
    frame.ui.text_mono(number);
    frame.ui.tag(fmt::format("inside/{}/gives", row_), number);
    end_row();
  }

  void draw_term(Frame& frame, const InsideTerm& term, bool products, bool bad) {
    begin_row();
    const std::string what =
        fmt::format("{}k = {}", bad ? "first NaN or Inf: " : "  ", term.number);
    if (bad)
      frame.ui.state_word(StateKind::kFailed, what);
    else
      frame.ui.text_dim(what);
    frame.ui.tag(fmt::format("inside/{}", row_), what);
    ImGui::TableNextColumn();
    if (products) frame.ui.text_mono(term.text);
    ImGui::TableNextColumn();
    draw_reads(frame, term.operands, " * ");
    end_row();
  }

  void begin_row() {
    ImGui::PushID(row_);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
  }
  void end_row() {
    ImGui::PopID();
    ++row_;
  }

  void draw_addends(Frame& frame, const Inside& inside) {
    if (!inside.how.empty()) {
      frame.ui.text_dim(inside.how);
      frame.ui.tag("inside/how", inside.how);
    }
    if (inside.addends.empty() || !ImGui::BeginTable("addends", 4, kTable)) return;
    for (const char* column : {"rank", "element", "so far", "rounded by"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    for (const InsideAddend& addend : inside.addends) {
      begin_row();
      frame.ui.rank_chip(addend.source.rank, false, fmt::format("inside/{}/rank", row_));
      ImGui::TableNextColumn();
      draw_operand(frame, addend.source, fmt::format("inside/{}/reads/0", row_));
      if (addend.source.not_finite) {
        ImGui::SameLine();
        frame.ui.state_word(StateKind::kFailed, "contributes NaN or Inf");
      }
      ImGui::TableNextColumn();
      frame.ui.text_mono(addend.running);
      frame.ui.tag(fmt::format("inside/{}/running", row_), addend.running);
      ImGui::TableNextColumn();
      frame.ui.text_mono(addend.rounding);
      end_row();
    }
    ImGui::EndTable();
  }

  static void draw_members(Frame& frame, const Inside& inside) {
    if (inside.members.empty() || !ImGui::BeginTable("members", 5, kTable)) return;
    for (const char* column : {"rank", "state", "where", "in", "out"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    for (const interp::InsideMember& m : inside.members) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      frame.ui.rank_chip(m.rank, false, fmt::format("inside/member/{}/rank", m.rank));
      ImGui::TableNextColumn();
      const StateKind state = m.state == "done"          ? StateKind::kOk
                              : m.state == "not arrived" ? StateKind::kMissing
                                                         : StateKind::kWaiting;
      frame.ui.state_word(state, m.state);
      frame.ui.tag(fmt::format("inside/member/{}", m.rank), m.state);
      ImGui::TableNextColumn();
      frame.ui.text(m.text);
      for (const int64_t bytes : {m.in_bytes, m.out_bytes}) {
        ImGui::TableNextColumn();
        frame.ui.text_mono(fmt::format("{} B", bytes));
      }
    }
    ImGui::EndTable();
  }

  InsideFetch fetch_;
  int row_ = 0;  // row number across all tables
};

}  // namespace

std::unique_ptr<Panel> make_inside_panel() { return std::make_unique<InsidePanel>(); }

}  // namespace hostir::gui
