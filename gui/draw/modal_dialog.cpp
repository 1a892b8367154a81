#include "gui/draw/modal_dialog.h"

#include <algorithm>
#include <utility>

namespace hostir::gui {

namespace {

bool key_went_down(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), false); }

}  // namespace

void ModalDialog::open(DialogRequest request) {
  request_ = std::move(request);
  opened_ = false;
}

void ModalDialog::draw(Ui& ui) {
  if (!request_) return;
  constexpr const char* kPopup = "###dialog";
  const std::string title = request_->title + kPopup;
  const bool just_opened = !std::exchange(opened_, true);
  if (just_opened) ImGui::OpenPopup(title.c_str());
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(560), screen.x - ui.px(20));
  ImGui::SetNextWindowPos(ImVec2(screen.x / 2, screen.y * 0.4f), ImGuiCond_Always,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  std::optional<size_t> chosen;
  if (ImGui::BeginPopupModal(title.c_str(), nullptr,
                             ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize)) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(request_->text.c_str());
    ImGui::PopTextWrapPos();
    ui.tag("ask", request_->text);
    ImGui::Dummy(ImVec2(0, ui.px(6)));
    for (size_t i = 0; i < request_->buttons.size(); ++i) {
      const DialogButton& button = request_->buttons[i];
      if (i > 0)
        Ui::flow(ImGui::CalcTextSize(button.label.c_str()).x +
                 2 * ImGui::GetStyle().FramePadding.x);
      if (i == 0) ImGui::PushStyleColor(ImGuiCol_Button, ui.pal().accent_dim);  // Enter
      if (ImGui::Button(button.label.c_str())) chosen = i;
      ui.tag("ask/" + button.name, button.label);
      if (i == 0) ImGui::PopStyleColor();
    }
    // The key that opened the dialog may still be down.
    if (!just_opened && key_went_down(ImGuiKey_Enter)) chosen = 0;
    if (!just_opened && key_went_down(ImGuiKey_Escape)) chosen = request_->buttons.size() - 1;
    if (chosen) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  } else if (!just_opened) {
    chosen = request_->buttons.size() - 1;  // closed by other means
  }
  if (!chosen) return;
  const DialogRequest answered = *std::exchange(request_, std::nullopt);
  const auto& act = answered.buttons[*chosen].act;
  if (act) act();  // may open the next dialog
}

}  // namespace hostir::gui
