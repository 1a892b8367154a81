#include "gui/draw/theme.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>

namespace hostir::gui {

namespace {

constexpr ImU32 rgb(uint32_t hex, uint32_t alpha = 255) {
  return IM_COL32((hex >> 16) & 0xff, (hex >> 8) & 0xff, hex & 0xff, alpha);
}

Palette dark() {
  Palette p;
  p.kind = ThemeKind::kDark;
  p.background = rgb(0x15171b);
  p.panel = rgb(0x1c1f25);
  p.panel_title = rgb(0x23272f);
  p.border = rgb(0x333944);
  p.text = rgb(0xd3d8e0);
  p.text_dim = rgb(0x848d9b);
  p.text_strong = rgb(0xffffff);
  p.accent = rgb(0x4a9eea);
  p.accent_dim = rgb(0x2b5a86);
  p.selection = rgb(0x31475e);
  p.hover = rgb(0x2a313b);
  p.current_line = rgb(0x4a4423);
  p.breakpoint = rgb(0xe5534b);
  p.playhead = rgb(0xf2c94c);
  p.nan = rgb(0xe83fd0);
  p.inf = rgb(0xf2c94c);
  p.changed = rgb(0xf29e4c);
  p.link = rgb(0x6cb6ff);
  p.ranks = {rgb(0x57a6d8), rgb(0xf0b05f), rgb(0x6fc97b), rgb(0xa87be0),
             rgb(0xc7c34f), rgb(0xf08eb4), rgb(0xf8a88f), rgb(0x60c0a0)};
  p.events = {rgb(0x5b86c4), rgb(0xe0933c), rgb(0xc45b9e), rgb(0x3fa9a5),
              rgb(0x76ad5f), rgb(0x707a88), rgb(0x8a8f98)};
  p.states = {rgb(0x57b36a), rgb(0xd9a23b), rgb(0x6a7280),
              rgb(0xe5534b), rgb(0xe5534b), rgb(0x7fb4e6)};
  return p;
}

Palette light() {
  Palette p;
  p.kind = ThemeKind::kLight;
  p.background = rgb(0xe9ebee);
  p.panel = rgb(0xfbfcfd);
  p.panel_title = rgb(0xeef0f3);
  p.border = rgb(0xc9ced6);
  p.text = rgb(0x23282f);
  p.text_dim = rgb(0x6b7480);
  p.text_strong = rgb(0x000000);
  p.accent = rgb(0x1f6fc0);
  p.accent_dim = rgb(0x9cc4ea);
  p.selection = rgb(0xcfe3f7);
  p.hover = rgb(0xe3e8ee);
  p.current_line = rgb(0xfff0b8);
  p.breakpoint = rgb(0xd13b33);
  p.playhead = rgb(0xb07d00);
  p.nan = rgb(0xb8109e);
  p.inf = rgb(0x9a7400);
  p.changed = rgb(0xc45f00);
  p.link = rgb(0x0b5cad);
  p.ranks = {rgb(0x2f7fb5), rgb(0xc07d1e), rgb(0x3a944a), rgb(0x7c49bd),
             rgb(0x8d8a1a), rgb(0xc04f80), rgb(0xc76a4c), rgb(0x2f8c6d)};
  p.events = {rgb(0x4673b5), rgb(0xc97a1c), rgb(0xab3f85), rgb(0x23837f),
              rgb(0x548a3d), rgb(0x7b8593), rgb(0x9aa0a8)};
  p.states = {rgb(0x2f8a44), rgb(0xa87409), rgb(0x8a929d),
              rgb(0xc9302c), rgb(0xc9302c), rgb(0x2f79bd)};
  return p;
}

ImVec4 to_vec(ImU32 colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

ImU32 mix3(ImU32 a, ImU32 b, ImU32 c, float t) {
  return t < 0.5f ? mixed(a, b, t * 2) : mixed(b, c, t * 2 - 1);
}

}  // namespace

const Palette& palette(ThemeKind kind) {
  static const Palette kDark = dark();
  static const Palette kLight = light();
  return kind == ThemeKind::kDark ? kDark : kLight;
}

ImU32 Palette::rank(int32_t r) const {
  const auto index = static_cast<size_t>(std::max(r, 0));
  const ImU32 base = ranks[index % ranks.size()];
  const size_t round = index / ranks.size() % 3;
  if (round == 0) return base;
  return mixed(base, round == 1 ? text_strong : background, 0.35f);
}

ImU32 Palette::ramp(float t) const {
  const float c = std::clamp(t, 0.0f, 1.0f);
  if (kind == ThemeKind::kDark) return mix3(rgb(0x1d2b53), rgb(0x2a8c8c), rgb(0xf4e27a), c);
  return mix3(rgb(0xf6f1c4), rgb(0x59b0a8), rgb(0x23407f), c);
}

ImU32 Palette::diverging(float t) const {
  const ImU32 neutral = kind == ThemeKind::kDark ? rgb(0x3a3f47) : rgb(0xf4f4f4);
  return mix3(rgb(0x3d78d6), neutral, rgb(0xd6493d), (std::clamp(t, -1.0f, 1.0f) + 1) / 2);
}

const char* glyph(StateKind kind) {
  static constexpr std::array<const char*, 6> kGlyphs = {"\u2713", "\u25d4", "\u00b7",
                                                         "!",      "\u2717", "\u2744"};
  return kGlyphs[static_cast<size_t>(kind)];
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const auto a = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0f, 1.0f) * 255));
  return (colour & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

ImU32 mixed(ImU32 a, ImU32 b, float t) {
  const ImVec4 x = to_vec(a);
  const ImVec4 y = to_vec(b);
  return ImGui::ColorConvertFloat4ToU32(ImVec4(x.x + (y.x - x.x) * t, x.y + (y.y - x.y) * t,
                                               x.z + (y.z - x.z) * t, x.w + (y.w - x.w) * t));
}

void apply_theme(const Palette& p, float scale) {
  ImGuiStyle style;
  style.WindowPadding = ImVec2(8, 6);
  style.FramePadding = ImVec2(7, 3);
  style.ItemSpacing = ImVec2(7, 4);
  style.ItemInnerSpacing = ImVec2(5, 4);
  style.CellPadding = ImVec2(5, 2);
  style.ScrollbarSize = 11;
  style.GrabMinSize = 9;
  style.WindowRounding = 5;
  style.ChildRounding = 0;
  style.FrameRounding = 3;
  style.PopupRounding = 4;
  style.ScrollbarRounding = 6;
  style.TabRounding = 3;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 0;
  const auto set = [&style](std::initializer_list<ImGuiCol> slots, ImU32 colour) {
    for (const ImGuiCol slot : slots) style.Colors[slot] = to_vec(colour);
  };
  set({ImGuiCol_Text}, p.text);
  set({ImGuiCol_TextDisabled}, p.text_dim);
  set({ImGuiCol_WindowBg, ImGuiCol_ChildBg}, p.panel);
  set({ImGuiCol_PopupBg}, mixed(p.panel, p.background, 0.3f));
  set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderLight, ImGuiCol_TableBorderStrong},
      p.border);
  set({ImGuiCol_BorderShadow}, IM_COL32_BLACK_TRANS);
  set({ImGuiCol_ScrollbarBg}, mixed(p.panel, p.background, 0.6f));
  set({ImGuiCol_FrameBg}, mixed(p.panel, p.text, 0.10f));  // makes an empty box visible
  set({ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive, ImGuiCol_HeaderHovered,
       ImGuiCol_ButtonHovered, ImGuiCol_TabHovered},
      p.hover);
  set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg,
       ImGuiCol_TableHeaderBg, ImGuiCol_Button},
      p.panel_title);
  set({ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabHovered}, p.border);
  set({ImGuiCol_ScrollbarGrabActive, ImGuiCol_CheckMark, ImGuiCol_SliderGrab,
       ImGuiCol_SliderGrabActive, ImGuiCol_NavHighlight, ImGuiCol_DragDropTarget,
       ImGuiCol_PlotLines, ImGuiCol_PlotHistogram},
      p.accent);
  set({ImGuiCol_PlotLinesHovered, ImGuiCol_PlotHistogramHovered}, p.playhead);
  set({ImGuiCol_ButtonActive, ImGuiCol_Header, ImGuiCol_HeaderActive, ImGuiCol_TextSelectedBg},
      p.selection);
  set({ImGuiCol_SeparatorHovered, ImGuiCol_SeparatorActive, ImGuiCol_ResizeGripHovered,
       ImGuiCol_ResizeGripActive},
      p.accent_dim);
  set({ImGuiCol_ResizeGrip, ImGuiCol_TableRowBg}, IM_COL32_BLACK_TRANS);
  set({ImGuiCol_Tab, ImGuiCol_TabUnfocused}, IM_COL32_BLACK_TRANS);
  set({ImGuiCol_TabActive, ImGuiCol_TabUnfocusedActive}, p.panel);
  set({ImGuiCol_TableRowBgAlt}, with_alpha(p.text, 0.03f));
  set({ImGuiCol_NavWindowingHighlight, ImGuiCol_NavWindowingDimBg, ImGuiCol_ModalWindowDimBg},
      with_alpha(p.background, 0.6f));
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

namespace {

// Latin, arrows, mathematical operators, geometric shapes, and the check marks and hatches we draw.
const ImWchar* glyph_ranges() {
  static constexpr ImWchar kRanges[] = {0x0020, 0x017f, 0x0370, 0x03ff, 0x2010, 0x2044, 0x2080,
                                        0x208e, 0x2190, 0x21ff, 0x2200, 0x22ff, 0x2300, 0x23ff,
                                        0x2500, 0x25ff, 0x2600, 0x26ff, 0x2700, 0x27bf, 0};
  return kRanges;
}

ImFont* add_font(const char* file, float pixels) {
  for (const char* folder :
       {"/usr/share/fonts/truetype/dejavu/", "/usr/share/fonts/dejavu/", "/usr/share/fonts/TTF/"}) {
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    ImFontConfig config;
    config.OversampleH = 2;
    config.PixelSnapH = true;
    return ImGui::GetIO().Fonts->AddFontFromFileTTF(path.c_str(), std::round(pixels), &config,
                                                    glyph_ranges());
  }
  ImFontConfig config;
  config.SizePixels = std::round(pixels);
  return ImGui::GetIO().Fonts->AddFontDefault(&config);
}

}  // namespace

Fonts load_fonts(float scale) {
  ImGui::GetIO().Fonts->Clear();
  Fonts fonts;
  fonts.ui = add_font("DejaVuSans.ttf", 14 * scale);
  fonts.bold = add_font("DejaVuSans-Bold.ttf", 14 * scale);
  fonts.mono = add_font("DejaVuSansMono.ttf", 13 * scale);
  fonts.small = add_font("DejaVuSans.ttf", 11 * scale);
  ImGui::GetIO().Fonts->Build();
  return fonts;
}

}  // namespace hostir::gui
