#include "gui/panels/layout/layout_mesh.h"

#include <fmt/core.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "hostir/ir/box_text.h"

namespace hostir::gui {

namespace {

// Dimensions of a mesh drawn as cards with rows and columns.
struct Grid {
  int64_t across = 1;
  int64_t down = 1;
  int64_t cards = 1;
  int64_t cards_per_row = 1;
  float tile_w = 0;
  float tile_h = 0;
  float card_w = 0;
  float card_h = 0;
  float label = 0;     // width of the labels left of the rows
  int64_t folded = 0;  // number of devices, if a single axis is folded into rows; else 0
  bool is_folded() const { return folded > across; }
};

constexpr float kRowLabel = 34;

constexpr float kLeastTile = 3;  // in pixels; smaller tiles cannot be told apart

// Folds a long line of devices at a power of two, so that neighbours along halved axes line up
// vertically. Chooses the largest tiles that fit.
void fold(const Frame& frame, Grid& g, float width, float height) {
  const int64_t n = g.across;
  float best = 0;
  for (int64_t across = 1; across < 2 * n; across *= 2) {
    const int64_t columns = std::min(across, n);
    const int64_t rows = (n + columns - 1) / columns;
    const float room = columns < n ? width - frame.ui.px(kRowLabel) : width;
    const float tile = std::min(
        {room / static_cast<float>(columns), frame.ui.px(44), height / static_cast<float>(rows)});
    if (tile <= best * 1.01f) continue;
    best = tile;
    g.across = columns;
    g.down = rows;
  }
}

Grid grid_of(const Frame& frame, const Mesh& mesh, float width, float height) {
  Grid g;
  const size_t n = mesh.axes.size();
  g.across = n > 0 ? std::max<int64_t>(1, mesh.axes[n - 1].size) : 1;
  g.down = n > 1 ? std::max<int64_t>(1, mesh.axes[n - 2].size) : 1;
  g.cards = std::max<int64_t>(1, mesh.size() / (g.across * g.down));
  if (n == 1 && frame.ui.px(24) * static_cast<float>(g.across) > width) {
    g.folded = g.across;
    fold(frame, g, width, height - frame.ui.px(20));
  }
  g.label = frame.ui.px(n > 1 ? 36 : g.is_folded() ? kRowLabel : 0);
  const float least = g.label + frame.ui.px(16) * static_cast<float>(g.across);
  g.cards_per_row =
      std::clamp<int64_t>(static_cast<int64_t>(width / std::max(1.0f, least)), 1, g.cards);
  // As square as the width allows.
  const auto square = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(g.cards))));
  g.cards_per_row = std::min(g.cards_per_row, std::max<int64_t>(square, 2));
  g.card_w = width / static_cast<float>(g.cards_per_row);
  g.tile_w = std::min((g.card_w - g.label) / static_cast<float>(g.across), frame.ui.px(44));
  g.tile_h = std::min(std::max(g.tile_w, frame.ui.px(6)), frame.ui.px(28));
  if (g.is_folded())
    g.tile_h = std::min(g.tile_h, (height - frame.ui.px(20)) / static_cast<float>(g.down));
  g.card_h = g.tile_h * static_cast<float>(g.down) + frame.ui.px(n > 2 ? 34 : 20);
  return g;
}

std::string tile_text(const LayoutSource& source, interp::Rank rank, bool copy) {
  const auto index = static_cast<size_t>(rank);
  const Box* box = index < source.boxes.size() ? source.boxes[index] : nullptr;
  if (!box) return fmt::format("rank {}: does not hold it", rank);
  if (box->empty()) return fmt::format("rank {}: an empty shard", rank);
  return fmt::format("rank {}: {}{}{}", rank, to_string(*box),
                     copy ? "\na copy of what a lower rank holds" : "",
                     source.is_partial() ? "\nan addend: the value is the reduction of all" : "");
}

// `r12`, or `12` if that does not fit. Draws nothing rather than a truncated number.
void draw_rank(Frame& frame, Area tile, ImU32 colour, interp::Rank rank, bool empty) {
  const ImFont* font = frame.ui.fonts.small;
  const float room = tile.width() - 2;
  for (const std::string& text : {fmt::format("r{}{}", rank, empty ? " \u2205" : ""),
                                  fmt::format("r{}", rank), fmt::format("{}", rank)}) {
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
    if (width > room) continue;
    const ImVec2 at(tile.min.x + std::min(4.0f, (tile.width() - width) / 2),
                    tile.min.y + frame.ui.px(3));
    return frame.ui.draw_text(ImGui::GetWindowDrawList(), at, colour, text, width + 1,
                              frame.ui.fonts.small);
  }
}

void draw_tile(Frame& frame, const std::string& name, const LayoutView& view, interp::Rank rank,
               Area tile) {
  if (!ImGui::IsRectVisible(tile.min, tile.max)) return;
  const LayoutSource& source = view.source;
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto index = static_cast<size_t>(rank);
  const Box* box = index < source.boxes.size() ? source.boxes[index] : nullptr;
  const bool empty = box && box->empty();
  const bool filled = box && !empty;
  const bool copy = filled && view.copies[index];
  const bool small = tile.width() < frame.ui.px(14);  // just a dot, without hatching or number
  const float round = small ? 0.0f : 3.0f;
  const bool lit = frame.model.was_hovered.rank == rank;
  list->AddRectFilled(tile.min, tile.max,
                      filled ? mixed(p.panel, p.rank(rank),
                                     lit             ? 0.95f
                                     : copy && small ? 0.5f
                                                     : 0.7f)
                             : p.panel_title,
                      round);
  if (copy && !small)
    Ui::hatch(list, tile.min, tile.max, with_alpha(p.background, 0.35f), frame.ui.px(7));
  if (!filled) list->AddRect(tile.min, tile.max, with_alpha(p.rank(rank), 0.7f), round);
  if (rank == frame.model.snapshot()->focus)
    list->AddRect(tile.min, tile.max, p.text_strong, round, 0, frame.ui.px(2));
  if (!small) draw_rank(frame, tile, filled ? p.text_strong : p.text_dim, rank, empty);
  ImGui::SetCursorScreenPos(tile.min);
  ImGui::PushID(rank);
  if (ImGui::InvisibleButton("tile",
                             ImVec2(std::max(1.0f, tile.width()), std::max(1.0f, tile.height())))) {
    frame.actions.command(fmt::format("focus {}", rank));
  }
  const std::string text = tile_text(source, rank, copy);
  frame.ui.tag(fmt::format("{}/mesh/{}", name, rank), text);
  if (ImGui::IsItemHovered()) {
    frame.model.hovered.rank = rank;
    Ui::tooltip("%s\nclick: focus", text.c_str());
  }
  ImGui::PopID();
}

bool still_to_reduce(const LayoutSource& source, std::string_view axis) {
  if (!source.is_partial()) return false;
  return std::any_of(source.sharding->unreduced.begin(), source.sharding->unreduced.end(),
                     [&](const AxisRef& a) { return a.name == axis; });
}

// `tp ->` above the columns, `dp` beside the rows; red with a sigma if the value is unreduced over
// the axis.
void draw_axis(Frame& frame, const LayoutSource& source, const MeshAxis& axis, ImVec2 at,
               std::string_view arrow) {
  const bool reduce = still_to_reduce(source, axis.name);
  frame.ui.draw_text(ImGui::GetWindowDrawList(), at,
                     reduce ? frame.ui.pal().state(StateKind::kMismatch) : frame.ui.pal().text_dim,
                     fmt::format("{}{} {}", reduce ? "\u03a3 " : "", axis.name, arrow),
                     frame.ui.px(120), frame.ui.fonts.small);
}

// Coordinates along all axes except the last two: `pp=1`.
std::string card_title(const Mesh& mesh, int64_t position) {
  std::string title;
  for (size_t axis = 0; axis + 2 < mesh.axes.size(); ++axis) {
    title += fmt::format("{}{}={}", title.empty() ? "" : " ", mesh.axes[axis].name,
                         mesh.coord(position, axis));
  }
  return title;
}

}  // namespace

float draw_mesh(Frame& frame, const std::string& name, const Mesh& mesh, const LayoutView& view,
                Area area) {
  const LayoutSource& source = view.source;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame.ui.pal();
  std::string title = "mesh @" + mesh.name;
  for (const MeshAxis& axis : mesh.axes) title += fmt::format("  {}={}", axis.name, axis.size);
  frame.ui.draw_text(list, area.min, p.text_dim, title, area.width());
  const float top = area.min.y + frame.ui.px(22);
  const Grid g = grid_of(frame, mesh, area.width(), std::max(frame.ui.px(60), area.max.y - top));
  const size_t n = mesh.axes.size();
  if (g.tile_w < kLeastTile || g.tile_h < kLeastTile) {
    frame.ui.say_hidden(fmt::format("mesh tiles of {} ranks", mesh.size()));
    return area.min.y + frame.ui.px(20);
  }
  const float label = g.label;
  float bottom = top;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    const int64_t card = position / (g.across * g.down);
    const int64_t row = position / g.across % g.down;
    const int64_t column = position % g.across;
    const ImVec2 corner(area.min.x + static_cast<float>(card % g.cards_per_row) * g.card_w,
                        top + static_cast<float>(card / g.cards_per_row) * g.card_h);
    if (corner.y + g.tile_h > area.max.y) {
      frame.ui.say_hidden(fmt::format("mesh tiles of {} ranks", mesh.size() - position));
      break;
    }
    const float head = frame.ui.px(n > 2 ? 28 : 14);
    if (row == 0 && column == 0) {
      if (n > 2) frame.ui.draw_text(list, corner, p.text, card_title(mesh, position), g.card_w);
      const float y = corner.y + head - frame.ui.px(14);
      if (n > 0) draw_axis(frame, source, mesh.axes[n - 1], ImVec2(corner.x + label, y), "\u2192");
      if (n > 1)
        draw_axis(frame, source, mesh.axes[n - 2], ImVec2(corner.x, corner.y + head), "\u2193");
    }
    const float x = corner.x + label + static_cast<float>(column) * g.tile_w;
    const float y = corner.y + head + static_cast<float>(row) * g.tile_h;
    if (g.is_folded() && column == 0 && (g.tile_h >= frame.ui.px(11) || row % 4 == 0)) {
      frame.ui.draw_text(list, ImVec2(corner.x, y), p.text_dim,
                         fmt::format("r{}", mesh.rank_at(position)), label, frame.ui.fonts.small);
    }
    const float gap = std::min(3.0f, g.tile_w * 0.15f);
    draw_tile(frame, name, view, static_cast<interp::Rank>(mesh.rank_at(position)),
              Area{ImVec2(x, y), ImVec2(x + g.tile_w - gap, y + g.tile_h - gap)});
    bottom = std::max(bottom, y + g.tile_h);
  }
  return bottom + frame.ui.px(6);
}

}  // namespace hostir::gui
