// What panels draw with: fonts, palette, and names of widgets.
//
// Every interactive item is given a name right after it is drawn, `ui.tag("toolbar/step")`; tests
// and the headless script click and query by these names, never by pixels. Names are forgotten each
// frame.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gui/theme.h"

namespace hostir::gui {

struct WidgetRect {
  ImVec2 min;
  ImVec2 max;
  std::string text;  // what a test may read: a label or the shown value
};

class Ui {
 public:
  const Palette* colours = nullptr;
  Fonts fonts;
  float scale = 1;
  std::string panel;  // id of the one that is being drawn

  const Palette& pal() const { return *colours; }
  float px(float pixels) const { return pixels * scale; }

  void begin_frame();
  /// Names the last item.
  void tag(const std::string& name, std::string_view text = {});
  /// Names a rectangle that is drawn by hand.
  void tag_rect(const std::string& name, ImVec2 min, ImVec2 max, std::string_view text = {});
  const WidgetRect* find(const std::string& name) const;
  const std::map<std::string, WidgetRect>& widgets() const { return widgets_; }

  /// A panel that does not show everything says so; the status bar lists it ("lanes of 4 ranks").
  void say_hidden(std::string_view text);
  /// What the last frame hid.
  const std::vector<std::string>& hidden() const { return last_hidden_; }

  // ---- small shared widgets
  /// The next item of `width` pixels goes beside the last one, or below it where it does not fit.
  static void flow(float width);
  /// `1 row`, `2 rows`.
  static std::string counted(size_t n, std::string_view one);
  void text_dim(std::string_view text) const;
  void text_mono(std::string_view text) const;
  /// A line that explains an empty panel: what it is for and how to fill it. Its name is
  /// `hint/PANEL`.
  void empty_hint(std::string_view text);
  /// The coloured chip `r3`; true when clicked.
  bool rank_chip(int32_t rank, bool strong, const std::string& name);
  /// A word in a state's colour with its glyph.
  void state_word(StateKind state, std::string_view word) const;
  /// Text at a position in a draw list, cut to a width.
  void draw_text(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text, float max_width,
                 ImFont* font = nullptr) const;
  /// The same with an ellipsis where it had to be cut.
  void draw_elided(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text,
                   float max_width, ImFont* font = nullptr) const;
  /// Hatching of a rectangle, for waits, replicas and padding.
  static void hatch(ImDrawList* list, ImVec2 min, ImVec2 max, ImU32 colour, float step);

 private:
  std::map<std::string, WidgetRect> widgets_;
  std::vector<std::string> hidden_;
  std::vector<std::string> last_hidden_;
};

}  // namespace hostir::gui
