// Colours and sizes: one palette for dark, one for light, all scaled by one factor.
//
// Panels never use a colour literal. They look up a colour by meaning (a rank, a kind of event, a
// state), so that themes and colour-blind use stay consistent. Colour never carries information
// alone: a state is always drawn with its glyph or word.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>

namespace hostir::gui {

enum class ThemeKind : uint8_t { kDark, kLight };

/// The category of an event or instruction; determines its hue.
enum class EventKind : uint8_t { kCompute, kReduce, kGather, kPointToPoint, kMemory, kHost, kWait };
/// State of a rank, a member of a collective, or a check.
enum class StateKind : uint8_t { kOk, kWaiting, kMissing, kMismatch, kFailed, kFrozen };

struct Palette {
  ThemeKind kind = ThemeKind::kDark;
  ImU32 background = 0, panel = 0, panel_title = 0, border = 0, text = 0, text_dim = 0,
        text_strong = 0;
  ImU32 accent = 0, accent_dim = 0, selection = 0, hover = 0, current_line = 0, breakpoint = 0,
        playhead = 0;
  ImU32 nan = 0, inf = 0, changed = 0, link = 0;
  std::array<ImU32, 8> ranks{};
  std::array<ImU32, 7> events{};
  std::array<ImU32, 6> states{};

  /// Colour of a rank: 8 hues, then the same hues at another lightness. Always draw it with the
  /// label.
  ImU32 rank(int32_t rank) const;
  ImU32 event(EventKind k) const { return events[static_cast<size_t>(k)]; }
  ImU32 state(StateKind k) const { return states[static_cast<size_t>(k)]; }
  /// A perceptual ramp for values, t in [0, 1].
  ImU32 ramp(float t) const;
  /// Blue through neutral to red, for differences, t in [-1, 1].
  ImU32 diverging(float t) const;
};

const Palette& palette(ThemeKind kind);

/// The glyph for a state: ✓ ◔ · ! ✗ ❄, or a substitute that the fonts have.
const char* glyph(StateKind kind);

ImU32 with_alpha(ImU32 colour, float alpha);
ImU32 mixed(ImU32 a, ImU32 b, float t);

/// Sets ImGui's style from the palette; `scale` 1 = 96 dpi.
void apply_theme(const Palette& palette, float scale);

struct Fonts {
  ImFont* ui = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
  ImFont* small = nullptr;
};
/// Loads DejaVu (or another available font) at this scale and builds the atlas. Never fails: falls
/// back to ImGui's own font.
Fonts load_fonts(float scale);

}  // namespace hostir::gui
