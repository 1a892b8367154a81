// Drawing helpers for panels: fonts, palette and widget names.
//
// Every interactive item is named right after it is drawn, `ui.tag("toolbar/step")`. Tests and the
// headless script find and click widgets by these names, never by pixels. Names are cleared each
// frame.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/draw/theme.h"

namespace hostir::gui {

struct WidgetRect {
  ImVec2 min;
  ImVec2 max;
  std::string text;  // text visible to tests: a label or the shown value
};

/// What the mouse is over, for copying.
struct UnderMouse {
  std::string text;   // of the innermost item that has a text
  std::string row;    // the cells of its table row, separated by tabs; empty outside tables
  std::string panel;  // id of its panel
};

class Ui {
 public:
  const Palette* colours = nullptr;
  Fonts fonts;
  float scale = 1;
  std::string panel;  // id of the panel being drawn

  const Palette& pal() const { return *colours; }
  float px(float pixels) const { return pixels * scale; }

  void begin_frame();
  /// Names the last item.
  void tag(const std::string& name, std::string_view text = {});
  /// Lets the last item be copied without a name.
  void copyable(std::string_view text) const;
  /// The same for what was drawn in a rectangle.
  void copyable(ImVec2 min, ImVec2 max, std::string_view text) const { note_text(min, max, text); }
  /// Names a rectangle drawn by hand.
  void tag_rect(const std::string& name, ImVec2 min, ImVec2 max, std::string_view text = {});
  const WidgetRect* find(const std::string& name) const;
  const std::map<std::string, WidgetRect>& widgets() const { return widgets_; }
  /// As of the last frame. Every named item and everything drawn by `text` can be copied.
  const UnderMouse& under_mouse() const { return last_under_; }

  /// Call when a panel does not show everything; the status bar lists it ("lanes of 4 ranks").
  void say_hidden(std::string_view text);
  /// What was hidden in the last frame.
  const std::vector<std::string>& hidden() const { return last_hidden_; }

  // ---- small shared widgets
  /// Places the next item, `width` pixels wide, beside the last one, or below it if it does not
  /// fit.
  static void flow(float width);
  /// `1 row`, `2 rows`. `dim 0: 3 of 0..7` and a slider over the indices, beside or below the last
  /// item.
  bool index_slider(const std::string& id, size_t dim, int& at, int lo, int hi) const;
  void text_dim(std::string_view text) const;
  void text_mono(std::string_view text) const;
  /// Text in the current font and colour. Where the edge of its cell or window would cut a number,
  /// the text ends before that number with an ellipsis: a cut number reads as another one.
  void text(std::string_view text) const;
  /// A tooltip that wraps; `format` as for printf.
  static void tooltip(const char* format, ...) IM_FMTARGS(1);
  /// Explains an empty panel: what it is for and how to fill it. Tagged `hint/PANEL`.
  void empty_hint(std::string_view text);
  /// A coloured chip such as `r3`; true when clicked.
  bool rank_chip(int32_t rank, bool strong, const std::string& name);
  /// A word or a sentence in a state's colour, with its glyph. Further lines, such as a quoted
  /// text with a caret below, are drawn in the fixed-width font.
  void state_word(StateKind state, std::string_view word) const;
  /// Draws text at a position in a draw list, clipped to a width, but never inside a number.
  void draw_text(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text, float max_width,
                 ImFont* font = nullptr) const;
  /// Dimmed text in what is left of the line, however long it is, so that nothing below moves.
  void rest_of_line(std::string_view text) const;
  /// Like `draw_text`, but ends clipped text with an ellipsis.
  void draw_elided(ImDrawList* list, ImVec2 at, ImU32 colour, std::string_view text,
                   float max_width, ImFont* font = nullptr) const;
  /// Fills a rectangle with hatching, for waits, replicas and padding.
  static void hatch(ImDrawList* list, ImVec2 min, ImVec2 max, ImU32 colour, float step);

 private:
  void note_text(ImVec2 min, ImVec2 max, std::string_view text) const;

  std::map<std::string, WidgetRect> widgets_;
  UnderMouse last_under_;
  mutable UnderMouse under_;
  mutable float under_area_ = 0;  // of the item of `under_`
  // The cells of the table row under the mouse, by column.
  mutable std::map<int, std::string> row_;
  mutable std::pair<uint32_t, int> row_of_{0, -1};  // table and row
  std::vector<std::string> hidden_;
  std::vector<std::string> last_hidden_;
};

}  // namespace hostir::gui
