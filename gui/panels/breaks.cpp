// Breakpoints and watches: enable, condition, hit counts; a field that makes new ones.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class BreaksPanel : public Panel {
 public:
  std::string_view id() const override { return "breaks"; }
  std::string_view title() const override { return "Breakpoints"; }
  std::string_view hint() const override {
    return "Where runs stop: instructions, collectives, writes of a tensor, NaN. Type one below, "
           "or click left of a "
           "line of the program.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    ImGui::SetNextItemWidth(-1);
    if (ImGui::InputTextWithHint("##new",
                                 "break all_reduce if rank == 3, watch %y[0, 1], break nan ...",
                                 &text_, ImGuiInputTextFlags_EnterReturnsTrue)) {
      add(frame);
    }
    frame.ui.tag("breaks/new", text_);
    if (!problem_.empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, problem_);
      ImGui::PopTextWrapPos();
    }
    if (shot.breakpoints->empty()) return frame.ui.empty_hint(hint());
    if (!ImGui::BeginTable(
            "table", 4,
            ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY))
      return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("on");
    ImGui::TableSetupColumn("stops at", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("hits");
    ImGui::TableSetupColumn("");
    ImGui::TableHeadersRow();
    for (const interp::BreakpointSnapshot& b : *shot.breakpoints) draw_row(frame, b);
    ImGui::EndTable();
  }

 private:
  void add(Frame& frame) {
    if (text_.empty()) return;
    const auto plain = interp::parse_command(text_);
    const std::string line = plain ? text_ : "break " + text_;
    const auto parsed = interp::parse_command(line);
    problem_ = parsed ? "" : parsed.error().message();
    if (!parsed) return;
    frame.actions.command(line);
    text_.clear();
  }

  static void draw_row(Frame& frame, const interp::BreakpointSnapshot& b) {
    ImGui::PushID(static_cast<int>(b.number));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    bool on = b.enabled;
    if (ImGui::Checkbox("##on", &on))
      frame.actions.command(fmt::format("{} {}", on ? "enable" : "disable", b.number));
    frame.ui.tag(fmt::format("breaks/{}/on", b.number), b.enabled ? "on" : "off");
    ImGui::TableNextColumn();
    if (b.problem.empty()) {
      frame.ui.text_mono(b.text);
    } else {
      frame.ui.state_word(StateKind::kWaiting, b.text + "  " + b.problem);
    }
    frame.ui.tag(fmt::format("breaks/{}", b.number), b.text);
    if (ImGui::IsItemClicked() && !b.places.empty()) frame.model.selection.code = b.places.front();
    ImGui::TableNextColumn();
    frame.ui.text_mono(std::to_string(b.hits));
    frame.ui.tag(fmt::format("breaks/{}/hits", b.number), std::to_string(b.hits));
    ImGui::TableNextColumn();
    if (ImGui::SmallButton("delete")) frame.actions.command(fmt::format("delete {}", b.number));
    frame.ui.tag(fmt::format("breaks/{}/delete", b.number));
    ImGui::PopID();
  }

  std::string text_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<Panel> make_breaks_panel() { return std::make_unique<BreaksPanel>(); }

}  // namespace hostir::gui
