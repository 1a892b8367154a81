#include "gui/panels/program/text_marks.h"

#include <fmt/core.h>
#include <imgui_internal.h>

#include <algorithm>

#include "gui/panels/program/code_text.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

// The child window in which ImGui draws a multi-line field, and its scroll position.
struct Field {
  ImGuiWindow* window = nullptr;
  ImVec2 origin;  // position of the first character
};

Field find_field(const char* label) {
  const ImGuiWindow* parent = ImGui::GetCurrentWindow();
  const ImGuiID id = ImGui::GetID(label);
  Field field;
  field.window =
      ImGui::FindWindowByName(fmt::format("{}/{}_{:08X}", parent->Name, label, id).c_str());
  if (!field.window) return field;
  const ImGuiInputTextState* state = ImGui::GetInputTextState(id);
  const bool active = state && ImGui::GetActiveID() == id;
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  field.origin = ImVec2(field.window->Pos.x + padding.x - (active ? state->ScrollX : 0),
                        field.window->Pos.y + padding.y - field.window->Scroll.y);
  return field;
}

float width_of(std::string_view text) {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
}

void squiggle(ImDrawList* list, float x0, float x1, float y, ImU32 colour, float step) {
  bool up = false;
  for (float x = x0; x < x1; x += step, up = !up)
    list->PathLineTo(ImVec2(x, up ? y - step * 0.8f : y));
  list->PathLineTo(ImVec2(x1, y));
  list->PathStroke(colour, 0, step * 0.5f);
}

StateKind severity_state(Severity severity) {
  return severity == Severity::kError ? StateKind::kMismatch : StateKind::kWaiting;
}

}  // namespace

void draw_marks(Ui& ui, const char* label, const std::string& text,
                const std::vector<TextMark>& marks) {
  const Field field = find_field(label);
  if (!field.window || marks.empty()) return;
  const std::vector<std::string_view> lines = split(text, '\n');
  const float row = ImGui::GetFontSize();
  ImDrawList* list = field.window->DrawList;
  list->PushClipRect(field.window->InnerRect.Min, field.window->InnerRect.Max);
  size_t last_line = lines.size();
  for (const TextMark& mark : marks) {
    if (mark.line >= lines.size()) continue;
    const std::string_view line = lines[mark.line];
    const float y = field.origin.y + row * static_cast<float>(mark.line);
    const ImU32 colour = ui.pal().state(severity_state(mark.severity));
    const float x0 = field.origin.x + width_of(line.substr(0, std::min(mark.begin, line.size())));
    const float x1 = field.origin.x + width_of(line.substr(0, std::min(mark.end, line.size())));
    squiggle(list, x0, std::max(x1, x0 + ui.px(8)), y + row, colour, ui.px(2.5f));
    const std::string name = fmt::format("editor/mark/{}", mark.line + 1);
    ui.tag_rect(name, ImVec2(x0, y), ImVec2(std::max(x1, x0 + ui.px(8)), y + row), mark.message);
    if (mark.line == last_line) continue;  // only one message fits after a line
    last_line = mark.line;
    const float x = field.origin.x + width_of(line) + ui.px(18);
    const std::string said = std::string(glyph(severity_state(mark.severity))) + " " + mark.message;
    const float width =
        std::min(width_of(said), std::max(0.0f, field.window->InnerRect.Max.x - x - ui.px(8)));
    list->AddRectFilled(ImVec2(x - ui.px(5), y), ImVec2(x + width + ui.px(5), y + row),
                        with_alpha(colour, 0.18f), ui.px(3));
    ui.draw_elided(list, ImVec2(x, y), colour, said, width + 1, ImGui::GetFont());
  }
  list->PopClipRect();
}

void draw_found(Ui& ui, const char* label, const std::string& text,
                const std::vector<TextMark>& found, const TextMark* current) {
  const Field field = find_field(label);
  if (!field.window || found.empty()) return;
  const std::vector<std::string_view> lines = split(text, '\n');
  const float row = ImGui::GetFontSize();
  ImDrawList* list = field.window->DrawList;
  list->PushClipRect(field.window->InnerRect.Min, field.window->InnerRect.Max);
  for (const TextMark& mark : found) {
    if (mark.line >= lines.size() || mark.end > lines[mark.line].size()) continue;
    const std::string_view line = lines[mark.line];
    const float y = field.origin.y + row * static_cast<float>(mark.line);
    list->AddRectFilled(ImVec2(field.origin.x + width_of(line.substr(0, mark.begin)), y),
                        ImVec2(field.origin.x + width_of(line.substr(0, mark.end)), y + row),
                        with_alpha(ui.pal().playhead, &mark == current ? 0.55f : 0.25f));
  }
  list->PopClipRect();
}

void draw_colours(Ui& ui, const char* label, const std::string& text) {
  const Field field = find_field(label);
  if (!field.window) return;
  const std::vector<std::string_view> lines = split(text, '\n');
  const float row = ImGui::GetFontSize();
  const ImRect seen = field.window->InnerRect;
  ImDrawList* list = field.window->DrawList;
  list->PushClipRect(seen.Min, seen.Max);
  const float above = std::max(0.0f, (seen.Min.y - field.origin.y) / row);
  for (auto i = static_cast<size_t>(above); i < lines.size(); ++i) {
    const float y = field.origin.y + row * static_cast<float>(i);
    if (y > seen.Max.y) break;
    float x = field.origin.x;
    for (const CodePiece& piece : colour_line(lines[i], ui.pal())) {
      const char* end = piece.text.data() + piece.text.size();
      if (piece.colour != ui.pal().text)
        list->AddText(ImVec2(x, y), piece.colour, piece.text.data(), end);
      x += width_of(piece.text);
    }
  }
  list->PopClipRect();
}

void scroll_to_line(const char* label, size_t line) {
  const Field field = find_field(label);
  if (!field.window) return;
  const float y = ImGui::GetFontSize() * static_cast<float>(line);
  ImGui::SetScrollY(field.window, std::max(0.0f, y - field.window->InnerRect.GetHeight() * 0.4f));
}

void draw_line_numbers(Ui& ui, const char* label, const std::string& text,
                       const std::vector<TextMark>& marks, float right) {
  const Field field = find_field(label);
  if (!field.window) return;
  const float row = ImGui::GetFontSize();
  const size_t count = split(text, '\n').size();
  const ImRect seen = field.window->InnerRect;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float above = std::max(0.0f, (seen.Min.y - field.origin.y) / row);
  for (auto i = static_cast<size_t>(above); i < count; ++i) {
    const float y = field.origin.y + row * static_cast<float>(i);
    if (y < seen.Min.y - 1) continue;
    if (y + row > seen.Max.y) break;
    const bool marked =
        std::any_of(marks.begin(), marks.end(), [&](const TextMark& m) { return m.line == i; });
    const std::string number = (marked ? "! " : "") + std::to_string(i + 1);
    list->AddText(ImVec2(right - width_of(number), y),
                  marked ? ui.pal().state(StateKind::kMismatch) : ui.pal().text_dim,
                  number.c_str());
  }
}

}  // namespace hostir::gui
