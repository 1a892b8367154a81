#include "gui/question.h"

#include <algorithm>
#include <utility>

namespace hostir::gui {

namespace {

bool key_went_down(ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), false); }

}  // namespace

void QuestionBox::ask(Question question) {
  question_ = std::move(question);
  opened_ = false;
}

void QuestionBox::draw(Ui& ui) {
  if (!question_) return;
  constexpr const char* kPopup = "###question";
  const std::string title = question_->title + kPopup;
  const bool just_asked = !std::exchange(opened_, true);
  if (just_asked) ImGui::OpenPopup(title.c_str());
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(560), screen.x - ui.px(20));
  ImGui::SetNextWindowPos(ImVec2(screen.x / 2, screen.y * 0.4f), ImGuiCond_Always,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  std::optional<size_t> chosen;
  if (ImGui::BeginPopupModal(title.c_str(), nullptr,
                             ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize)) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(question_->text.c_str());
    ImGui::PopTextWrapPos();
    ui.tag("ask", question_->text);
    ImGui::Dummy(ImVec2(0, ui.px(6)));
    for (size_t i = 0; i < question_->answers.size(); ++i) {
      const Answer& answer = question_->answers[i];
      if (i > 0)
        Ui::flow(ImGui::CalcTextSize(answer.label.c_str()).x +
                 2 * ImGui::GetStyle().FramePadding.x);
      if (i == 0) ImGui::PushStyleColor(ImGuiCol_Button, ui.pal().accent_dim);  // Enter
      if (ImGui::Button(answer.label.c_str())) chosen = i;
      ui.tag("ask/" + answer.name, answer.label);
      if (i == 0) ImGui::PopStyleColor();
    }
    // The key that opened the question may still be down.
    if (!just_asked && key_went_down(ImGuiKey_Enter)) chosen = 0;
    if (!just_asked && key_went_down(ImGuiKey_Escape)) chosen = question_->answers.size() - 1;
    if (chosen) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  } else if (!just_asked) {
    chosen = question_->answers.size() - 1;  // closed by other means
  }
  if (!chosen) return;
  const Question answered = *std::exchange(question_, std::nullopt);
  const auto& act = answered.answers[*chosen].act;
  if (act) act();  // may ask the next question
}

}  // namespace hostir::gui
