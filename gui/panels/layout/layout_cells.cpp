#include "gui/panels/layout/layout_cells.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/values/value_text.h"
#include "hostir/ir/inline_value.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

float line_height(const Frame& frame) { return frame.ui.fonts.small->FontSize + 1; }

// Lines of text in a cell: the value, then addends.
int lines_in(const Frame& frame, const Picture& picture) {
  return static_cast<int>((picture.fit.cell_y - 2) / line_height(frame));
}

bool shows_addends(const Frame& frame, const CellsOf& of) {
  return of.view.source.is_partial() && lines_in(frame, of.picture) > 1;
}

// Three digits, or fewer if the cell is too narrow; a dot if no number fits.
std::string cell_text(const Tensor& tensor, int64_t i, const ImFont* font, float width) {
  std::string text = value_text(tensor, i, ValueFormat::kDecimal, is_float(tensor.dtype) ? 3 : 6);
  if (font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x <= width) return text;
  text = fitting_value(tensor, i, ValueFormat::kDecimal, font, width);
  return text.empty() ? "\u00b7" : text;
}

bool copies_differ_at(const LayoutView& view, const std::vector<int64_t>& index) {
  for (size_t s = 0; s < view.differs.size() && s < view.shards.size(); ++s) {
    const Box& box = view.shards[s].box;
    if (view.differs[s].empty() || !box.holds(index)) continue;
    size_t place = 0;
    for (size_t d = 0; d < index.size(); ++d)
      place = place * static_cast<size_t>(box.hi[d] - box.lo[d]) +
              static_cast<size_t>(index[d] - box.lo[d]);
    return view.differs[s][place];
  }
  return false;
}

ImU32 number_colour(const Palette& p, double v, bool differs) {
  if (std::isnan(v)) return p.nan;
  if (std::isinf(v)) return p.inf;
  return differs ? p.state(StateKind::kMismatch) : p.text_strong;
}

// Copying gives a text that reads back as the number under the mouse, however few digits are drawn.
void offer_to_copy(const Frame& frame, ImVec2 min, ImVec2 max, const Tensor& values, int64_t i) {
  if (!ImGui::IsMouseHoveringRect(min, max)) return;
  frame.ui.copyable(min, max, format_number(values, i));
}

// One addend of every element of a slice, on one line of the cells.
void draw_addend(Frame& frame, const CellsOf& of, const Tensor& values, const Box& box,
                 interp::Rank rank, int line) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame.ui.pal();
  const Picture& picture = of.picture;
  ImFont* font = frame.ui.fonts.small;
  const std::string name = fmt::format("r{} ", rank);
  const float named = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, name.c_str()).x;
  const float space = picture.fit.cell_x - 4;
  for (int64_t i = 0; i < values.element_count(); ++i) {
    const std::vector<int64_t> index = box.index_at(i);
    const ImVec2 at =
        picture.corner(of.plane.row_of(index), index[static_cast<size_t>(of.plane.column_dim)]);
    const float y = at.y + 1 + line_height(frame) * static_cast<float>(line);
    std::string text = cell_text(values, i, font, space - named);
    text = text == "\u00b7" ? cell_text(values, i, font, space) : name + text;
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
    list->AddRectFilled(ImVec2(at.x + 1, y),
                        ImVec2(at.x + picture.fit.cell_x - 1, y + line_height(frame)),
                        with_alpha(p.background, 0.72f));
    frame.ui.draw_text(list, ImVec2(at.x + (picture.fit.cell_x - width) / 2, y), p.rank(rank), text,
                       picture.fit.cell_x, font);
    offer_to_copy(frame, ImVec2(at.x, y), ImVec2(at.x + picture.fit.cell_x, y + line_height(frame)),
                  values, i);
  }
}

}  // namespace

void draw_cell_values(Frame& frame, const CellsOf& of, const Tensor& values, const Box& box) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = frame.ui.fonts.small;
  const Picture& picture = of.picture;
  const Palette& p = frame.ui.pal();
  const bool addends = shows_addends(frame, of);
  // In low cells the rank names go beside the number, otherwise above it. High cells have room for
  // a name above a number in their middle.
  const bool low = !addends && picture.fit.cell_y < frame.ui.px(24) && !picture.named_below;
  const float below = picture.fit.cell_y - font->FontSize;
  const bool high = picture.fit.cell_y >= 3 * font->FontSize + frame.ui.px(6);
  const float name = font->FontSize + frame.ui.px(3);
  const float top = addends                         ? 1
                    : picture.named_below || high   ? below / 2
                    : picture.fit.cell_y > 2 * name ? (name + below) / 2
                                                    : below - frame.ui.px(2);
  for (int64_t i = 0; i < values.element_count(); ++i) {
    const std::vector<int64_t> index = box.index_at(i);
    const ImVec2 at =
        picture.corner(of.plane.row_of(index), index[static_cast<size_t>(of.plane.column_dim)]);
    const bool differs = copies_differ_at(of.view, index);
    const float space = picture.fit.cell_x - 3;
    std::string text = cell_text(values, i, font, space);
    const std::string marked = text + " \u2260";
    if (differs && font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, marked.c_str()).x <= space)
      text = marked;
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
    const float left =
        low ? picture.fit.cell_x - width - frame.ui.px(4) : (picture.fit.cell_x - width) / 2;
    const ImVec2 place(at.x + std::max(2.0f, left), at.y + top);
    if (differs)
      list->AddRectFilled(ImVec2(place.x - 2, place.y),
                          ImVec2(place.x + width + 2, place.y + font->FontSize),
                          with_alpha(p.background, 0.72f));
    frame.ui.draw_text(list, place, number_colour(p, values.get_double(i), differs), text,
                       picture.fit.cell_x, font);
    const ImVec2 end(at.x + picture.fit.cell_x, at.y + picture.fit.cell_y);
    if (i < 64) frame.ui.tag_rect(fmt::format("layout/cell/{}", i), at, end, text);
    offer_to_copy(frame, at, end, values, i);
  }
}

void draw_cell_addends(Frame& frame, const CellsOf& of) {
  if (!shows_addends(frame, of)) return;
  const auto room = static_cast<size_t>(lines_in(frame, of.picture) - 1);
  for (size_t s = 0; s < of.view.shards.size(); ++s) {
    const Shard& shard = of.view.shards[s];
    const auto box = of.plane.slice(shard.box);
    if (!box) continue;
    if (shard.addends.size() > room)
      frame.ui.say_hidden(counted(shard.addends.size() - room, "addend") + " of each cell");
    for (size_t k = 0; k < std::min(room, shard.addends.size()); ++k) {
      interp::ValueQuery query;
      query.value = of.tensor.name;
      query.rank = shard.addends[k];
      query.box = *box;
      const ReadingSlot& slot = frame.model.reading(query);
      if (!slot.reading || slot.reading->undefined || slot.reading->box != *box) continue;
      draw_addend(frame, of, slot.reading->tensor, *box, query.rank, static_cast<int>(k) + 1);
      frame.ui.tag_rect(fmt::format("layout/addend/{}/r{}", s, query.rank), of.picture.origin,
                        of.picture.origin,
                        cell_text(slot.reading->tensor, 0, frame.ui.fonts.small, 1000));
    }
  }
}

}  // namespace hostir::gui
