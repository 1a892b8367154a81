#include "gui/panels/layout/layout_heat.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/box_text.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxHeatRanks = 16;
constexpr int64_t kMostCells = 4096;  // limit over all ranks, for what one frame can draw

struct RankHeat {
  interp::Rank rank;
  Box box;
  const ReadingSlot* slot;
};

int64_t column_of(const Plane& plane, const std::vector<int64_t>& index) {
  return index[static_cast<size_t>(plane.column_dim)];
}

std::vector<RankHeat> collect(Frame& frame, const TensorView& tensor, const Plane& plane,
                              HeatRange& range) {
  std::vector<RankHeat> heats;
  int64_t left = kMostCells;
  size_t hidden = 0;
  for (size_t r = 0; r < tensor.by_rank.size(); ++r) {
    const interp::AllocationSnapshot* held = tensor.by_rank[r];
    if (!held || !held->live) continue;
    const auto part = plane.slice(held->placement.box);
    if (!part) continue;
    if (heats.size() == kMaxHeatRanks || part->volume() > left) {
      ++hidden;
      continue;
    }
    left -= part->volume();
    interp::ValueQuery query;
    query.value = tensor.name;
    query.rank = static_cast<interp::Rank>(r);
    query.box = *part;
    const ReadingSlot& slot = frame.model.reading(query);
    heats.push_back({query.rank, *part, &slot});
    if (slot.reading && !slot.reading->undefined) range.add(slot.reading->tensor);
  }
  if (hidden > 0) frame.ui.say_hidden(fmt::format("pictures of {} ranks", hidden));
  return heats;
}

void draw_one(Frame& frame, const TensorView& tensor, const RankHeat& heat, const Plane& plane,
              const HeatRange& range, ImVec2 size) {
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = frame.ui.fonts.small->FontSize + frame.ui.px(3);
  const ImVec2 from(at.x, at.y + line);
  const auto rows = static_cast<float>(
      plane.is_matrix() ? heat.box.extents()[static_cast<size_t>(plane.row_dim)] : 1);
  const auto columns =
      static_cast<float>(heat.box.extents()[static_cast<size_t>(plane.column_dim)]);
  const float side = std::min(
      {size.x / std::max(1.0f, columns), (size.y - line) / std::max(1.0f, rows), frame.ui.px(18)});
  const ImVec2 cell(side, side);
  const bool there =
      heat.slot->reading && heat.slot->reading->box == heat.box && !heat.slot->reading->undefined;
  frame.ui.draw_elided(list, at, p.rank(heat.rank),
                       fmt::format("r{} {}", heat.rank, to_string(heat.box)), size.x,
                       frame.ui.fonts.small);
  const ImVec2 end(from.x + side * columns, from.y + side * rows);
  if (there) {
    draw_heat(frame, heat.slot->reading->tensor, heat.box, plane, from, cell, heat.box, range);
  } else {
    Ui::hatch(list, from, end, with_alpha(p.text_dim, 0.4f), frame.ui.px(7));
  }
  list->AddRect(from, end, p.rank(heat.rank), 0, 0, frame.ui.px(1.4f));
  ImGui::PushID(heat.rank);
  if (ImGui::InvisibleButton("heat", size)) {
    frame.actions.command(fmt::format("focus {}", heat.rank));
    frame.model.selection.rank = heat.rank;
    frame.model.selection.value = tensor.name;
  }
  ImGui::PopID();
  frame.ui.tag(fmt::format("layout/heat/{}", heat.rank), there ? "shown" : "not written");
  if (!ImGui::IsItemHovered()) return;
  frame.model.hovered.rank = heat.rank;
  Ui::tooltip("%%%s on rank %d: %s\n%s", tensor.name.c_str(), heat.rank,
              to_string(heat.box).c_str(),
              there ? "click: focus this rank" : "nothing was written here yet");
}

}  // namespace

void HeatRange::add(double v) {
  if (!std::isfinite(v)) return;
  min = any ? std::min(min, v) : v;
  max = any ? std::max(max, v) : v;
  any = true;
}

void HeatRange::add(const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.element_count(); ++i) add(tensor.get_double(i));
}

void draw_heat(Frame& frame, const Tensor& tensor, const Box& box, const Plane& plane,
               ImVec2 origin, ImVec2 cell, const Box& shown, const HeatRange& range) {
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Extents extents = box.extents();
  const double width = range.max > range.min ? range.max - range.min : 1;
  for (int64_t i = 0; i < std::min(tensor.element_count(), kMaxHeatCells); ++i) {
    std::vector<int64_t> index(extents.size());
    int64_t rest = i;
    for (size_t d = extents.size(); d-- > 0;) {
      index[d] = box.lo[d] - shown.lo[d] + rest % extents[d];
      rest /= extents[d];
    }
    const double v = tensor.get_double(i);
    const ImU32 colour = std::isnan(v)   ? p.nan
                         : std::isinf(v) ? p.inf
                                         : p.ramp(static_cast<float>((v - range.min) / width));
    const ImVec2 at(origin.x + static_cast<float>(column_of(plane, index)) * cell.x,
                    origin.y + static_cast<float>(plane.row_of(index)) * cell.y);
    list->AddRectFilled(at, ImVec2(at.x + cell.x, at.y + cell.y), colour);
  }
}

HeatGrid coarse_grid(const Tensor& tensor, const Box& box, const Plane& plane, int rows,
                     int columns) {
  HeatGrid grid;
  grid.rows = rows;
  grid.columns = columns;
  grid.mean.assign(static_cast<size_t>(rows) * static_cast<size_t>(columns), 0);
  std::vector<int64_t> counts(grid.mean.size(), 0);
  const Extents extents = box.extents();
  const auto stride_of = [&](int dim) {
    int64_t stride = 1;
    for (size_t d = static_cast<size_t>(dim) + 1; d < extents.size(); ++d) stride *= extents[d];
    return stride;
  };
  const int64_t all_rows = plane.is_matrix() ? extents[static_cast<size_t>(plane.row_dim)] : 1;
  const int64_t all_columns = extents[static_cast<size_t>(plane.column_dim)];
  const int64_t row_stride = plane.is_matrix() ? stride_of(plane.row_dim) : 0;
  const int64_t column_stride = stride_of(plane.column_dim);
  for (int64_t r = 0; r < all_rows; ++r) {
    for (int64_t c = 0; c < all_columns; ++c) {
      const auto cell =
          static_cast<size_t>(r * rows / all_rows * columns + c * columns / all_columns);
      grid.mean[cell] += tensor.get_double(r * row_stride + c * column_stride);
      ++counts[cell];
    }
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) grid.mean[i] /= static_cast<double>(counts[i]);
    grid.range.add(grid.mean[i]);
  }
  return grid;
}

void draw_grid(Frame& frame, const HeatGrid& grid, ImVec2 from, ImVec2 to) {
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double width = grid.range.max > grid.range.min ? grid.range.max - grid.range.min : 1;
  const float x = (to.x - from.x) / static_cast<float>(grid.columns);
  const float y = (to.y - from.y) / static_cast<float>(grid.rows);
  for (int r = 0; r < grid.rows; ++r) {
    for (int c = 0; c < grid.columns; ++c) {
      const double v = grid.mean[static_cast<size_t>(r * grid.columns + c)];
      const ImU32 colour = std::isnan(v) ? p.nan
                           : std::isinf(v)
                               ? p.inf
                               : p.ramp(static_cast<float>((v - grid.range.min) / width));
      const ImVec2 at(from.x + x * static_cast<float>(c), from.y + y * static_cast<float>(r));
      list->AddRectFilled(at, ImVec2(at.x + x, at.y + y), colour);
    }
  }
}

void draw_rank_heats(Frame& frame, const TensorView& tensor, const Plane& plane) {
  if (plane.rank() == 0) return frame.ui.text_dim("one number: see the Values panel");
  HeatRange range;
  const std::vector<RankHeat> heats = collect(frame, tensor, plane, range);
  if (heats.empty())
    return frame.ui.text_dim("no rank holds a part of this plane, or it is too large");
  const std::string text =
      range.any ? fmt::format("every rank's own values, one colour range: {:.4g} .. {:.4g}",
                              range.min, range.max)
                : "every rank's own values: nothing was written yet";
  frame.ui.text_dim(text);
  frame.ui.tag("layout/heats", text);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float width = std::clamp(
      (space.x - frame.ui.px(30)) / static_cast<float>(std::min<size_t>(heats.size(), 4)),
      frame.ui.px(70), frame.ui.px(150));
  const ImVec2 size(width, std::clamp(space.y * 0.9f, frame.ui.px(60), frame.ui.px(110)));
  for (size_t i = 0; i < heats.size(); ++i) {
    if (i > 0) Ui::flow(size.x);
    draw_one(frame, tensor, heats[i], plane, range, size);
  }
}

}  // namespace hostir::gui
