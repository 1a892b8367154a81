#include "gui/draw/ui.h"

#include <fmt/core.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstdarg>
#include <utility>

#include "hostir/support/characters.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

// The byte at which text may be cut so that no number is cut: `cut`, or the start of the number
// that surrounds it.
size_t before_number(std::string_view text, size_t cut) {
  const auto in_number = [](char c) {
    return is_digit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
  };
  if (cut == 0 || cut >= text.size() || !in_number(text[cut]) || !in_number(text[cut - 1]))
    return cut;
  size_t begin = cut;
  while (begin > 0 && in_number(text[begin - 1])) --begin;
  size_t end = cut;
  while (end < text.size() && in_number(text[end])) ++end;
  const std::string_view run = text.substr(begin, end - begin);
  return run.find_first_of("0123456789") == run.npos ? cut : begin;
}

// How many bytes of the text fit into a width without cutting a number.
size_t fitting(const ImFont* font, std::string_view text, float width) {
  const char* cut = text.data() + text.size();
  font->CalcTextSizeA(font->FontSize, width, 0, text.data(), text.data() + text.size(), &cut);
  return before_number(text, static_cast<size_t>(cut - text.data()));
}

// Draws the part of a line of text that an edge does not cut, without cutting numbers.
void draw_cut(ImDrawList* list, ImVec2 at, const ImRect& clip, std::string_view text) {
  size_t from = 0;
  if (at.x < clip.Min.x) {  // scrolled: drop what the left edge cuts
    const size_t hidden = fitting(GImGui->Font, text, clip.Min.x - at.x);
    from = std::min(text.find(' ', hidden), text.size());
  }
  const char* begin = text.data() + from;
  const char* end = text.data() + text.size();
  at.x += ImGui::CalcTextSize(text.data(), begin).x;
  const ImU32 colour = ImGui::GetColorU32(ImGuiCol_Text);
  const float space = clip.Max.x - at.x;
  if (ImGui::CalcTextSize(begin, end).x <= space) return list->AddText(at, colour, begin, end);
  const char* dots = "\u2026";
  const size_t fits = fitting(GImGui->Font, text.substr(from), space - ImGui::CalcTextSize(dots).x);
  list->AddText(at, colour, begin, begin + fits);
  at.x += ImGui::CalcTextSize(begin, begin + fits).x;
  list->AddText(at, colour, dots);
}

}  // namespace

void Ui::begin_frame() {
  widgets_.clear();
  for (const auto& [column, cell] : row_) under_.row += (under_.row.empty() ? "" : "\t") + cell;
  row_.clear();
  row_of_ = {0, -1};
  last_under_ = std::exchange(under_, {});
  under_area_ = FLT_MAX;
  last_hidden_ = std::exchange(hidden_, {});
}

void Ui::say_hidden(std::string_view text) { add_once(hidden_, std::string(text)); }

void Ui::tag(const std::string& name, std::string_view text) {
  tag_rect(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), text);
}

void Ui::tag_rect(const std::string& name, ImVec2 min, ImVec2 max, std::string_view text) {
  widgets_[name] = {min, max, std::string(text)};
  note_text(min, max, text);
}

void Ui::copyable(std::string_view text) const {
  note_text(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), text);
}

void Ui::note_text(ImVec2 min, ImVec2 max, std::string_view text) const {
  if (text.empty() || !ImGui::GetCurrentContext()->WithinFrameScope) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (const ImGuiTable* table = ImGui::GetCurrentTable()) {
    const float bottom = std::max(table->RowPosY2, table->RowPosY1 + table->RowMinHeight);
    const bool here = mouse.y >= table->RowPosY1 && mouse.y < std::max(bottom, max.y) &&
                      mouse.x >= table->InnerClipRect.Min.x &&
                      mouse.x < table->InnerClipRect.Max.x && ImGui::IsWindowHovered();
    if (here) {
      const std::pair<uint32_t, int> row(table->ID, table->CurrentRow);
      if (std::exchange(row_of_, row) != row) row_.clear();
      row_[table->CurrentColumn] = text;
    }
  }
  if (!ImGui::IsMouseHoveringRect(min, max) || !ImGui::IsWindowHovered()) return;
  const float area = (max.x - min.x) * (max.y - min.y);
  if (area > under_area_) return;
  under_area_ = area;
  under_.text = text;
  under_.panel = panel;
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

bool Ui::index_slider(const std::string& id, size_t dim, int& at, int lo, int hi) const {
  const auto words = [&](int index) {
    return fmt::format("dim {}: {} of {}..{}", dim, index, lo, hi);
  };
  const float text = ImGui::CalcTextSize(words(hi).c_str()).x;
  const float slider = px(72);
  flow(text + ImGui::GetStyle().ItemSpacing.x + slider);
  const float left = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(words(at).c_str());
  ImGui::SameLine(left + text + ImGui::GetStyle().ItemSpacing.x);
  ImGui::SetNextItemWidth(slider);
  return ImGui::SliderInt(id.c_str(), &at, lo, hi, " ");
}

void Ui::text_dim(std::string_view text) const {
  ImGui::PushStyleColor(ImGuiCol_Text, pal().text_dim);
  this->text(text);
  ImGui::PopStyleColor();
}

void Ui::text_mono(std::string_view text) const {
  ImGui::PushFont(fonts.mono);
  this->text(text);
  ImGui::PopFont();
}

void Ui::text(std::string_view text) const {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const ImGuiWindow* window = ImGui::GetCurrentWindow();
  const float left = window->DC.CursorPos.x;
  const bool wraps = window->DC.TextWrapPos >= 0 || text.find('\n') != text.npos;
  const float width = wraps ? 0 : ImGui::CalcTextSize(begin, end).x;
  if (wraps || (left >= window->ClipRect.Min.x && left + width <= window->ClipRect.Max.x)) {
    ImGui::TextUnformatted(begin, end);
  } else {
    // Takes its place as usual, so that columns keep their widths, but is drawn by hand.
    ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32_BLACK_TRANS);
    ImGui::TextUnformatted(begin, end);
    ImGui::PopStyleColor();
    draw_cut(window->DrawList, ImVec2(left, ImGui::GetItemRectMin().y), window->ClipRect, text);
  }
  note_text(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), text);
}

void Ui::tooltip(const char* format, ...) {
  constexpr float kWidth = 34;  // in font sizes
  va_list arguments;
  va_start(arguments, format);
  ImGui::BeginTooltipEx(ImGuiWindowFlags_None, ImGuiTooltipFlags_OverridePreviousTooltip);
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * kWidth);
  ImGui::TextV(format, arguments);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  va_end(arguments);
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
  const size_t end = std::min(word.find('\n'), word.size());
  const std::string text = std::string(glyph(state)) + " " + std::string(word.substr(0, end));
  ImGui::PushStyleColor(ImGuiCol_Text, pal().state(state));
  ImGui::BeginGroup();
  ImGui::TextUnformatted(text.c_str());
  if (end < word.size()) {
    ImGui::PushFont(fonts.mono);
    ImGui::TextUnformatted(word.data() + end + 1, word.data() + word.size());
    ImGui::PopFont();
  }
  ImGui::EndGroup();
  ImGui::PopStyleColor();
  copyable(word);
}

void Ui::draw_text(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text,
                   float max_width, ImFont* font) const {
  ImFont* used = font ? font : fonts.ui;
  const size_t fits = fitting(used, text, max_width);
  if (fits > 0) list->AddText(used, used->FontSize, at, colour, text.data(), text.data() + fits);
}

void Ui::rest_of_line(std::string_view text) const {
  const float width = ImGui::GetContentRegionAvail().x;
  // On the baseline of the widgets before it, as ImGui::Text would be.
  const float down = ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_elided(ImGui::GetWindowDrawList(), ImVec2(at.x, at.y + down), pal().text_dim, text, width);
  ImGui::Dummy(ImVec2(width, ImGui::GetTextLineHeight()));
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
  const char* cut = text.data() + fitting(used, text, space);
  const float width = used->CalcTextSizeA(used->FontSize, FLT_MAX, 0, text.data(), cut).x;
  if (cut > text.data()) list->AddText(used, used->FontSize, at, colour, text.data(), cut);
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
