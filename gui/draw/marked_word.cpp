#include "gui/draw/marked_word.h"

#include <string>

namespace hostir::gui {

void marked_word(const Ui& ui, std::string_view word, bool differs) {
  if (word.empty()) return;
  ImGui::PushFont(ui.fonts.mono);
  if (differs) {
    const ImU32 alarm = ui.pal().state(StateKind::kMismatch);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string text = "\u2260 " + std::string(word);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float pad = ui.px(4);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 max(at.x + size.x + 2 * pad, at.y + size.y + 2);
    list->AddRectFilled(at, max, with_alpha(alarm, 0.30f), pad);
    list->AddRect(at, max, alarm, pad);
    list->AddText(ImVec2(at.x + pad, at.y + 1), ui.pal().text_strong, text.c_str());
    ImGui::Dummy(ImVec2(size.x + 2 * pad, size.y + 2));
    ui.copyable(word);
  } else {
    ui.text(word);
  }
  ImGui::PopFont();
}

}  // namespace hostir::gui
