// Comparing golden pictures: small rendering differences between machines pass, a changed digit
// fails. Digits are drawn with the window's own fonts.
#include <imgui.h>

#include <algorithm>
#include <array>

#include "gui/draw/theme.h"
#include "gui/files/png.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

using Colour = std::array<int, 3>;

Colour channels(ImU32 colour) {
  return {static_cast<int>(colour >> IM_COL32_R_SHIFT & 255),
          static_cast<int>(colour >> IM_COL32_G_SHIFT & 255),
          static_cast<int>(colour >> IM_COL32_B_SHIFT & 255)};
}

Image blank(int width, int height, ImU32 ground) {
  Image image{width, height, {}};
  const Colour colour = channels(ground);
  for (int i = 0; i < width * height; ++i) {
    for (const int c : colour) image.rgb.push_back(static_cast<unsigned char>(c));
  }
  return image;
}

size_t byte_at(const Image& image, int x, int y) {
  return (static_cast<size_t>(y) * static_cast<size_t>(image.width) + static_cast<size_t>(x)) * 3;
}

/// The fonts' glyphs, four bytes per pixel; the last byte is the coverage.
struct Atlas {
  unsigned char* pixels = nullptr;
  int width = 0;
  int height = 0;
};

/// Draws a letter as ImGui does at whole pixels.
void draw_letter(Image& image, const Atlas& atlas, const ImFont* font, char letter, int x, int y,
                 ImU32 colour) {
  const ImFontGlyph* glyph = font->FindGlyph(static_cast<ImWchar>(letter));
  const auto from_x = static_cast<int>(glyph->U0 * static_cast<float>(atlas.width) + 0.5f);
  const auto from_y = static_cast<int>(glyph->V0 * static_cast<float>(atlas.height) + 0.5f);
  const auto columns = static_cast<int>(glyph->X1 - glyph->X0 + 0.5f);
  const auto rows = static_cast<int>(glyph->Y1 - glyph->Y0 + 0.5f);
  // Glyphs are oversampled horizontally.
  const float across = (glyph->U1 - glyph->U0) * static_cast<float>(atlas.width) /
                       std::max(1.0f, static_cast<float>(columns));
  const Colour ink = channels(colour);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int u = from_x + static_cast<int>((static_cast<float>(column) + 0.5f) * across);
      const int share = atlas.pixels[((from_y + row) * atlas.width + u) * 4 + 3];
      const size_t i = byte_at(image, x + static_cast<int>(glyph->X0) + column,
                               y + static_cast<int>(glyph->Y0) + row);
      for (size_t c = 0; c < 3; ++c) {
        const int before = image.rgb[i + c];
        image.rgb[i + c] = static_cast<unsigned char>(before + (ink[c] - before) * share / 255);
      }
    }
  }
}

TEST(Picture, AChangedDigitFailsWhereverItStands) {
  Workbench w("");
  const Ui& ui = w->app().ui();
  Atlas atlas;
  ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&atlas.pixels, &atlas.width, &atlas.height);
  ASSERT_TRUE(atlas.pixels);
  for (const ThemeKind kind : {ThemeKind::kDark, ThemeKind::kLight}) {
    const Palette& p = palette(kind);
    const Image ground = blank(101, 103, p.panel);
    for (const ImFont* font : {ui.fonts.ui, ui.fonts.bold, ui.fonts.mono, ui.fonts.small}) {
      for (int pair = 0; pair < 100; ++pair) {
        const char a = static_cast<char>('0' + pair / 10);
        const char b = static_cast<char>('0' + pair % 10);
        // Also across tile borders, and in the last tiles, which are cut off.
        for (const int at : {3, 17, 44, 83}) {
          Image shown = ground;
          Image wanted = ground;
          draw_letter(shown, atlas, font, a, at, at, p.text_dim);
          draw_letter(wanted, atlas, font, b, at, at, p.text_dim);
          EXPECT_EQ(why_not_same(shown, wanted).empty(), a == b)
              << a << " for " << b << " at " << at << ", " << font->FontSize << " pixels high";
        }
      }
    }
  }
}

TEST(Picture, WhatAMachineDrawsOtherwisePasses) {
  const Image wanted = blank(1000, 700, IM_COL32(30, 32, 36, 255));
  Image shown = wanted;
  for (unsigned char& c : shown.rgb) c = static_cast<unsigned char>(c + kSameThreshold);
  for (int y = 10; y < 700; y += 20) {  // plus a line corner here and there
    for (int x = 10; x < 1000; x += 30) shown.rgb[byte_at(shown, x, y)] = 255;
  }
  EXPECT_EQ(why_not_same(shown, wanted), "");
  for (int x = 500; x < 507; ++x) shown.rgb[byte_at(shown, x, 405)] = 255;
  EXPECT_NE(why_not_same(shown, wanted), "");
}

TEST(Picture, TheWorstTileIsWhereItDiffers) {
  const Image wanted = blank(1000, 700, 0);
  Image shown = wanted;
  for (int x = 612; x < 622; ++x) shown.rgb[byte_at(shown, x, 333)] = 255;
  const PictureTile worst = worst_tile(shown, wanted, kSameThreshold);
  EXPECT_EQ(worst.pixels, 10);
  EXPECT_TRUE(worst.x <= 612 && worst.x + kPictureTile >= 622) << worst.x;
  EXPECT_TRUE(worst.y <= 333 && worst.y + kPictureTile > 333) << worst.y;
  EXPECT_NE(why_not_same(blank(1000, 699, 0), wanted), "") << "of another size";
}

}  // namespace
}  // namespace hostir::gui
