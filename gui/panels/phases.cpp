// The text after every phase of the compiler, linked by `from(@f#n)`: what a host instruction came
// from.
#include <fmt/core.h>

#include "gui/panels/code_text.h"
#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class PhasesPanel : public Panel {
 public:
  std::string_view id() const override { return "phases"; }
  std::string_view title() const override { return "Phases"; }
  std::string_view hint() const override {
    return "The program after every phase of the compiler, from the fusion to the host IR. Lines "
           "that the selected host "
           "instruction came from are lit.";
  }

  void draw(Frame& frame) override {
    const interp::ProgramView& program = *frame.model.snapshot()->program;
    if (program.phases.empty())
      return frame.ui.empty_hint("This host function was written by hand: there are no phases. " +
                                 std::string(hint()));
    shown_ = std::min(shown_, program.phases.size() - 1);
    for (size_t i = 0; i < program.phases.size(); ++i) {
      if (i > 0) ImGui::SameLine();
      const bool on = i == shown_;
      if (on) ImGui::PushStyleColor(ImGuiCol_Button, frame.ui.pal().selection);
      if (ImGui::SmallButton(program.phases[i].name.c_str())) shown_ = i;
      if (on) ImGui::PopStyleColor();
      frame.ui.tag("phases/" + program.phases[i].name);
    }
    draw_text(frame, program, program.phases[shown_].text);
  }

 private:
  // The values that the selected instruction mentions by name; a phase's line that defines one is
  // lit.
  static bool is_linked(const Frame& frame, const interp::ProgramView& program,
                        std::string_view line) {
    const auto& code = frame.model.selection.code;
    const std::string& value = frame.model.selection.value;
    if (!value.empty() && line.find("%" + value + " =") != std::string_view::npos) return true;
    if (!code || *code >= program.code->instructions.size()) return false;
    for (const OpRef& ref : program.code->source(*code).from) {
      const Function* f = program.code->program->find_function(ref.function);
      if (!f) continue;
      const std::vector<InstrId> order = f->preorder();
      if (ref.number == 0 || ref.number > order.size()) continue;
      for (const ValueId result : f->instr(order[ref.number - 1]).results) {
        if (line.find("%" + f->value(result).name + " =") != std::string_view::npos) return true;
      }
    }
    return false;
  }

  static void draw_text(Frame& frame, const interp::ProgramView& program, std::string_view text) {
    ImGui::BeginChild("text", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    std::vector<std::string_view> lines;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      lines.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_line(frame, program, lines[static_cast<size_t>(i)], i);
    }
    ImGui::PopFont();
    ImGui::EndChild();
  }

  static void draw_line(Frame& frame, const interp::ProgramView& program, std::string_view line,
                        int i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeightWithSpacing();
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (is_linked(frame, program, line)) {
      list->AddRectFilled(at, ImVec2(at.x + ImGui::GetContentRegionAvail().x, at.y + height),
                          with_alpha(frame.ui.pal().accent, 0.2f));
    }
    ImGui::PushID(i);
    const float width =
        std::max(ImGui::GetContentRegionAvail().x,
                 ImGui::CalcTextSize(line.data(), line.data() + line.size()).x + 10);
    if (ImGui::InvisibleButton("line", ImVec2(std::max(1.0f, width), ImGui::GetTextLineHeight()))) {
      const float column = (ImGui::GetIO().MousePos.x - at.x) / ImGui::CalcTextSize("m").x;
      const std::string_view name = name_at(line, static_cast<size_t>(std::max(0.0f, column)));
      if (!name.empty() && name.front() == '%')
        frame.model.selection.value = std::string(name.substr(1));
    }
    ImGui::PopID();
    float x = at.x;
    for (const CodePiece& piece : colour_line(line, frame.ui.pal())) {
      list->AddText(ImVec2(x, at.y), piece.colour, piece.text.data(),
                    piece.text.data() + piece.text.size());
      x += ImGui::CalcTextSize(piece.text.data(), piece.text.data() + piece.text.size()).x;
    }
  }

  size_t shown_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_phases_panel() { return std::make_unique<PhasesPanel>(); }

}  // namespace hostir::gui
