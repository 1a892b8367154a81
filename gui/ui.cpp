#include "gui/ui.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace hostir::gui {

void Ui::begin_frame() {
  widgets_.clear();
  last_hidden_ = std::exchange(hidden_, {});
}

void Ui::say_hidden(std::string_view text) {
  if (std::find(hidden_.begin(), hidden_.end(), text) == hidden_.end()) hidden_.emplace_back(text);
}

void Ui::tag(const std::string& name, std::string_view text) {
  tag_rect(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), text);
}

void Ui::tag_rect(const std::string& name, ImVec2 min, ImVec2 max, std::string_view text) {
  widgets_[name] = {min, max, std::string(text)};
}

const WidgetRect* Ui::find(const std::string& name) const {
  const auto at = widgets_.find(name);
  return at == widgets_.end() ? nullptr : &at->second;
}

void Ui::flow(float width) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  const float next = ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + width;
  if (next <= right) ImGui::SameLine();
}

std::string Ui::counted(size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

void Ui::text_dim(std::string_view text) const {
  ImGui::PushStyleColor(ImGuiCol_Text, pal().text_dim);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

void Ui::text_mono(std::string_view text) const {
  ImGui::PushFont(fonts.mono);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopFont();
}

void Ui::empty_hint(std::string_view text) {
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float width = std::min(space.x * 0.85f, px(460));
  ImGui::Dummy(ImVec2(0, std::min(space.y * 0.15f, px(40))));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (space.x - width) / 2);
  ImGui::PushStyleColor(ImGuiCol_Text, pal().text_dim);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  tag("hint/" + panel, text);
}

bool Ui::rank_chip(int32_t rank, bool strong, const std::string& name) {
  const std::string label = "r" + std::to_string(rank);
  const ImU32 colour = pal().rank(rank);
  ImGui::PushID(name.c_str());
  ImGui::PushStyleColor(ImGuiCol_Button, strong ? colour : mixed(pal().panel, colour, 0.25f));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, mixed(pal().panel, colour, 0.6f));
  ImGui::PushStyleColor(ImGuiCol_Text, strong ? pal().background : pal().text);
  const bool clicked = ImGui::SmallButton(label.c_str());
  ImGui::PopStyleColor(3);
  ImGui::PopID();
  tag(name, label);
  return clicked;
}

void Ui::state_word(StateKind state, std::string_view word) const {
  const std::string text = std::string(glyph(state)) + " " + std::string(word);
  ImGui::PushStyleColor(ImGuiCol_Text, pal().state(state));
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void Ui::draw_text(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text,
                   float max_width, ImFont* font) const {
  ImFont* used = font ? font : fonts.ui;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* cut = end;
  const ImVec2 size = used->CalcTextSizeA(used->FontSize, max_width, 0, begin, end, &cut);
  if (cut == begin || size.x <= 0) return;
  list->AddText(used, used->FontSize, at, colour, begin, cut);
}

void Ui::draw_elided(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text,
                     float max_width, ImFont* font) const {
  ImFont* used = font ? font : fonts.ui;
  const char* end = text.data() + text.size();
  const float whole = used->CalcTextSizeA(used->FontSize, FLT_MAX, 0, text.data(), end).x;
  if (whole <= max_width) return draw_text(list, at, colour, text, max_width + 1, used);
  const char* dots = "\u2026";
  const float space = max_width - used->CalcTextSizeA(used->FontSize, FLT_MAX, 0, dots).x;
  if (space <= 0) return;
  const char* cut = end;
  const float width = used->CalcTextSizeA(used->FontSize, space, 0, text.data(), end, &cut).x;
  list->AddText(used, used->FontSize, at, colour, text.data(), cut);
  list->AddText(used, used->FontSize, ImVec2(at.x + width, at.y), colour, dots);
}

void Ui::hatch(ImDrawList* list, ImVec2 min, ImVec2 max, ImU32 colour, float step) {
  const float height = max.y - min.y;
  for (float x = min.x - height; x < max.x; x += step) {
    const float x0 = std::max(x, min.x);
    const float x1 = std::min(x + height, max.x);
    if (x1 > x0) list->AddLine(ImVec2(x0, max.y - (x0 - x)), ImVec2(x1, max.y - (x1 - x)), colour);
  }
}

}  // namespace hostir::gui
