// The program text after each compiler phase, linked by `from(@f#n)` to show what each host
// instruction came from.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "gui/panels/panels.h"
#include "gui/panels/program/code_text.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

class PhasesPanel : public Panel {
 public:
  std::string_view id() const override { return "phases"; }
  std::string_view title() const override { return "Phases"; }
  std::string_view hint() const override {
    return "The program after every phase of the compiler, from the fusion to the host IR. Lines "
           "that the selected host instruction came from are highlighted; point at a line to "
           "highlight what was made from it.";
  }

  void draw(Frame& frame) override {
    const interp::ProgramView& program = *frame.model.snapshot()->program;
    if (program.phases.empty())
      return frame.ui.empty_hint("This host function was written by hand: there are no phases. " +
                                 std::string(hint()));
    if (program_ != frame.model.snapshot()->program) index(frame.model.snapshot()->program);
    shown_ = std::min(shown_, program.phases.size() - 1);
    choose(frame, program, "", shown_);
    ImGui::Checkbox("beside it", &beside_);
    frame.ui.tag("phases/beside", beside_ ? "on" : "off");
    if (ImGui::IsItemHovered())
      Ui::tooltip("A second phase on the right; lines of the same origin are highlighted in both");
    if (!beside_ || program.phases.size() < 2) return draw_text(frame, shown_, "");
    other_ = std::min(other_, program.phases.size() - 1);
    ImGui::SameLine();
    choose(frame, program, "other/", other_);
    const float half = (ImGui::GetContentRegionAvail().x - frame.ui.px(6)) / 2;
    ImGui::BeginChild("left", ImVec2(half, 0));
    draw_text(frame, shown_, "");
    ImGui::EndChild();
    ImGui::SameLine(0, frame.ui.px(6));
    ImGui::BeginChild("right", ImVec2(0, 0));
    draw_text(frame, other_, "other/");
    ImGui::EndChild();
  }

 private:
  static void choose(Frame& frame, const interp::ProgramView& program, const std::string& side,
                     size_t& chosen) {
    ImGui::PushID(side.c_str());
    for (size_t i = 0; i < program.phases.size(); ++i) {
      if (i > 0) Ui::flow(ImGui::CalcTextSize(program.phases[i].name.c_str()).x + frame.ui.px(8));
      const bool on = i == chosen;
      if (on) ImGui::PushStyleColor(ImGuiCol_Button, frame.ui.pal().selection);
      if (ImGui::SmallButton(program.phases[i].name.c_str())) chosen = i;
      if (on) ImGui::PopStyleColor();
      frame.ui.tag("phases/" + side + program.phases[i].name);
    }
    ImGui::PopID();
  }

  // Maps the names that a phase defines to the host instructions made from their definitions.
  // `from` numbers the instructions of the first phase, so names are looked up there.
  void index(std::shared_ptr<const interp::ProgramView> shown) {
    program_ = std::move(shown);
    const interp::ProgramView& program = *program_;
    made_from_.clear();
    lines_.clear();
    for (const interp::PhaseText& phase : program.phases) {
      auto& lines = lines_.emplace_back(split(phase.text, '\n'));
      if (lines.back().empty()) lines.pop_back();
    }
    const std::map<OpRef, std::string> names = names_of(program.phases.front().text);
    for (interp::CodeIndex code = 0; program.code && code < program.instructions.size(); ++code) {
      for (const OpRef& ref : program.code->source(code).from) {
        const auto name = names.find(ref);
        if (name != names.end()) made_from_[name->second].push_back(code);
      }
    }
  }

  // The value that each instruction of a printed program defines: one instruction per line,
  // numbered from 1 in each function.
  static std::map<OpRef, std::string> names_of(std::string_view text) {
    std::map<OpRef, std::string> names;
    OpRef at;
    bool in_body = false;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = trimmed(text.substr(begin, end - begin));
      begin = end + 1;
      if (line.empty() || line.starts_with("//")) continue;
      const bool opens = line.back() == '{';
      if (line.starts_with("fusion @") || line.starts_with("kernel @") ||
          line.starts_with("host @")) {
        const size_t name = line.find('@') + 1;
        at = {std::string(line.substr(name, line.find_first_of(" (", name) - name)), 0};
        in_body = opens;
      } else if (!in_body) {
        in_body = opens;  // end of a header that spans several lines
      } else if (line.front() != '}') {
        ++at.number;
        const std::string_view name = defined(line);
        if (!name.empty()) names.emplace(at, std::string(name));
      }
    }
    return names;
  }

  // The name defined by a line: `  %y = add ...` gives `y`.
  static std::string_view defined(std::string_view line) {
    line = trimmed(line);
    if (line.empty() || line.front() != '%') return {};
    const size_t end = line.find_first_of(" ,");
    if (end == std::string_view::npos || line.find(" = ") == std::string_view::npos) return {};
    return line.substr(1, end - 1);
  }

  const std::vector<interp::CodeIndex>* made_from(std::string_view line) const {
    const auto found = made_from_.find(std::string(defined(line)));
    return found == made_from_.end() ? nullptr : &found->second;
  }

  // True for lines that define the selected value, or what the selected or hovered host instruction
  // came from.
  bool is_linked(const Frame& frame, std::string_view line) const {
    const std::string_view name = defined(line);
    if (name.empty()) return false;
    if (name == frame.model.selection.value) return true;
    const auto* codes = made_from(line);
    if (!codes) return false;
    for (const auto& code : {frame.model.selection.code, frame.model.was_hovered.code}) {
      if (code && contains(*codes, *code)) return true;
    }
    return false;
  }

  void draw_text(Frame& frame, size_t phase, const std::string& side) {
    const std::vector<std::string_view>& lines = lines_[phase];
    ImGui::BeginChild("text", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    follow(frame, lines, side.empty() ? followed_ : followed_beside_);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_line(frame, side, lines[static_cast<size_t>(i)], i);
    }
    ImGui::PopFont();
    ImGui::EndChild();
  }

  void draw_line(Frame& frame, const std::string& side, std::string_view line, int i) const {
    ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeightWithSpacing();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float number = frame.ui.px(34);
    if (is_linked(frame, line)) {
      list->AddRectFilled(at, ImVec2(at.x + ImGui::GetContentRegionAvail().x, at.y + height),
                          with_alpha(frame.ui.pal().accent, 0.2f));
    }
    ImGui::PushID(i);
    const float width =
        std::max(ImGui::GetContentRegionAvail().x,
                 ImGui::CalcTextSize(line.data(), line.data() + line.size()).x + number + 10);
    if (ImGui::InvisibleButton("line", ImVec2(std::max(1.0f, width), ImGui::GetTextLineHeight()))) {
      const float column = (ImGui::GetIO().MousePos.x - at.x - number) / ImGui::CalcTextSize("m").x;
      const std::string_view name = name_at(line, static_cast<size_t>(std::max(0.0f, column)));
      if (!name.empty() && name.front() == '%')
        frame.model.selection.value = std::string(name.substr(1));
      if (const auto* codes = made_from(line)) {
        frame.model.selection.code = codes->front();
        frame.model.selection.related = *codes;
        followed_ = codes->front();
      }
    }
    frame.ui.tag(fmt::format("phases/{}line/{}", side, i + 1), line);
    if (is_linked(frame, line)) frame.ui.tag(fmt::format("phases/{}lit/{}", side, i + 1), line);
    if (ImGui::IsItemHovered()) {
      if (const auto* codes = made_from(line)) {
        frame.model.hovered.related = *codes;
        Ui::tooltip(
            "%zu host instructions were made from this line and are highlighted; click "
            "selects them",
            codes->size());
      }
    }
    ImGui::PopID();
    frame.ui.draw_text(list, at, frame.ui.pal().text_dim, fmt::format("{:>3}", i + 1), number,
                       frame.ui.fonts.mono);
    at.x += number;
    float x = at.x;
    for (const CodePiece& piece : colour_line(line, frame.ui.pal())) {
      list->AddText(ImVec2(x, at.y), piece.colour, piece.text.data(),
                    piece.text.data() + piece.text.size());
      x += ImGui::CalcTextSize(piece.text.data(), piece.text.data() + piece.text.size()).x;
    }
  }

  // When a host instruction is selected elsewhere, scrolls to its first line here.
  void follow(const Frame& frame, const std::vector<std::string_view>& lines,
              std::optional<interp::CodeIndex>& followed) const {
    const auto& code = frame.model.selection.code;
    if (!code || followed == code) return;
    followed = code;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!is_linked(frame, lines[i])) continue;
      const float y = static_cast<float>(i) * ImGui::GetTextLineHeightWithSpacing();
      if (y < ImGui::GetScrollY() || y > ImGui::GetScrollY() + ImGui::GetWindowHeight() * 0.8f)
        ImGui::SetScrollY(std::max(0.0f, y - ImGui::GetWindowHeight() * 0.3f));
      return;
    }
  }

  std::shared_ptr<const interp::ProgramView> program_;  // owns the texts below
  std::vector<std::vector<std::string_view>> lines_;    // by phase
  std::map<std::string, std::vector<interp::CodeIndex>> made_from_;
  mutable std::optional<interp::CodeIndex> followed_;  // last scrolled to, on the left
  std::optional<interp::CodeIndex> followed_beside_;
  size_t shown_ = 0;
  bool beside_ = false;
  size_t other_ = ~size_t{0};  // the phase on the right; by default the last one
};

}  // namespace

std::unique_ptr<Panel> make_phases_panel() { return std::make_unique<PhasesPanel>(); }

}  // namespace hostir::gui
