#include "gui/panels/program/line_menu.h"

#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <utility>

#include "hostir/support/lists.h"

namespace hostir::gui {

void LineMenu::draw(Frame& frame, const interp::Snapshot& shot, const interp::CodeIndex* code) {
  if (!ImGui::BeginPopupContextItem("menu")) return;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(frame.ui.px(7), frame.ui.px(4)));
  if (ImGui::IsWindowAppearing()) {
    typing_ = false;
    text_.clear();
    problem_.clear();
  }
  if (code) {
    const std::string address = shot.program->address(*code);
    if (ImGui::MenuItem("Run to here", "Ctrl+F10")) frame.actions.command("until " + address);
    if (ImGui::MenuItem("Run back to here", "Ctrl+Shift+F10"))
      frame.actions.command("reverse-until " + address);
    if (ImGui::MenuItem("Break here", "F9")) frame.actions.command("break " + address);
    if (ImGui::MenuItem("Break here on every rank"))
      frame.actions.command("break " + address + " on all");
    frame.ui.tag("host_ir/menu/break_on_all");
    if (ImGui::MenuItem("Break here on the focus rank"))
      frame.actions.command(fmt::format("break {} on {}", address, shot.focus));
    if (ImGui::MenuItem("Look inside", "F12")) {
      frame.model.selection.code = *code;
      frame.actions.request("inside");
    }
    frame.ui.tag("host_ir/menu/inside");
    draw_log(frame, shot, *code);
  } else {
    frame.ui.text_dim("nothing runs on this line");
  }
  ImGui::PopStyleVar();
  ImGui::EndPopup();
}

void LineMenu::draw_log(Frame& frame, const interp::Snapshot& shot, interp::CodeIndex code) {
  for (const interp::BreakpointSnapshot& b : *shot.breakpoints) {
    if (!b.logs || !contains(b.places, code)) continue;
    const std::string label = fmt::format("Delete log point {}", b.number);
    if (ImGui::MenuItem(label.c_str())) frame.actions.command(fmt::format("delete {}", b.number));
    frame.ui.tag(fmt::format("host_ir/menu/delete_log/{}", b.number));
  }
  if (!typing_) {
    if (ImGui::Selectable("Log a line here\u2026", false, ImGuiSelectableFlags_DontClosePopups)) {
      typing_ = true;
      refocus_ = true;
    }
    frame.ui.tag("host_ir/menu/log");
    return;
  }
  frame.ui.text_dim(
      "Log a line each time a rank passes here. Braces hold expressions, as in conditions.");
  ImGui::SetNextItemWidth(frame.ui.px(420));
  if (std::exchange(refocus_, false)) ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputTextWithHint("##log", "seq {seq}, largest {max(%y)}, iteration {iteration}",
                               &text_, ImGuiInputTextFlags_EnterReturnsTrue);
  frame.ui.tag("host_ir/menu/log/text", text_);
  if (!problem_.empty()) {
    frame.ui.state_word(StateKind::kMismatch, problem_);
    frame.ui.tag("host_ir/menu/log/problem", problem_);
  }
  if (!entered || text_.empty()) return;
  auto command = interp::parse_command("break " + shot.program->address(code));
  if (!command) return;
  command->kind = interp::CommandKind::kDprintf;
  command->text = text_;
  const std::string line = to_string(*command);
  const auto parsed = interp::parse_command(line);
  problem_ = parsed ? "" : parsed.error().message();
  refocus_ = !parsed;
  if (!parsed) return;
  frame.actions.command(line);
  ImGui::CloseCurrentPopup();
}

}  // namespace hostir::gui
