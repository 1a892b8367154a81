#include "gui/panels/layout/layout_geometry.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

void find_addends(const LayoutSource& source, Shard& shard) {
  if (!source.is_partial()) return;
  std::set<std::vector<int64_t>> seen;
  for (const interp::Rank r : shard.holders) {
    const auto position = source.mesh ? source.mesh->position_of(r) : std::nullopt;
    std::vector<int64_t> coordinates;
    for (const AxisRef& axis : source.sharding->unreduced)
      coordinates.push_back(position ? source.mesh->coord(*position, axis) : r);
    if (seen.insert(std::move(coordinates)).second) shard.addends.push_back(r);
  }
}

}  // namespace

std::vector<Shard> shards_of(const LayoutSource& source) {
  std::vector<Shard> shards;
  std::map<std::pair<std::vector<int64_t>, std::vector<int64_t>>, size_t> known;
  for (size_t r = 0; r < source.boxes.size(); ++r) {
    const Box* box = source.boxes[r];
    if (!box || box->lo.size() != source.global.size()) continue;
    const auto [place, added] = known.try_emplace({box->lo, box->hi}, shards.size());
    if (added) shards.push_back({*box, {}, {}, {}});
    shards[place->second].holders.push_back(static_cast<interp::Rank>(r));
  }
  for (Shard& shard : shards) find_addends(source, shard);
  return shards;
}

std::vector<interp::Rank> Shard::layers() const {
  if (!addends.empty()) return addends;
  std::vector<interp::Rank> out;
  for (const auto& version : versions) out.push_back(version.front());
  return out;
}

size_t most_layers(const std::vector<Shard>& shards) {
  size_t most = 1;
  for (const Shard& s : shards) most = std::max(most, s.layers().size());
  return most;
}

int64_t Plane::rows(const Extents& global) const {
  return is_matrix() ? global[static_cast<size_t>(row_dim)] : 1;
}

int64_t Plane::columns(const Extents& global) const {
  return global.empty() ? 1 : global[static_cast<size_t>(column_dim)];
}

std::optional<Plane::Part> Plane::part(const Box& box) const {
  Part p;
  if (box.lo.size() != at.size() || box.empty()) return std::nullopt;
  for (size_t d = 0; d < at.size(); ++d) {
    if (is_matrix() && static_cast<int>(d) == row_dim) {
      p.row_lo = box.lo[d];
      p.row_hi = box.hi[d];
    } else if (static_cast<int>(d) == column_dim) {
      p.column_lo = box.lo[d];
      p.column_hi = box.hi[d];
    } else if (at[d] < box.lo[d] || at[d] >= box.hi[d]) {
      return std::nullopt;
    }
  }
  return p;
}

std::optional<Box> Plane::slice(const Box& box) const {
  Box part = box;
  for (size_t d = 0; d < rank(); ++d) {
    const auto dim = static_cast<int>(d);
    if (dim == column_dim || (is_matrix() && dim == row_dim)) continue;
    if (at[d] < box.lo[d] || at[d] >= box.hi[d]) return std::nullopt;
    part.lo[d] = at[d];
    part.hi[d] = at[d] + 1;
  }
  if (part.empty()) return std::nullopt;
  return part;
}

std::vector<int64_t> Plane::element(int64_t row, int64_t column) const {
  std::vector<int64_t> index(at.begin(), at.end());
  if (is_matrix()) index[static_cast<size_t>(row_dim)] = row;
  if (!index.empty()) index[static_cast<size_t>(column_dim)] = column;
  return index;
}

Plane best_plane(const Extents& global, const std::vector<Shard>& shards) {
  Plane plane;
  plane.at.assign(global.size(), 0);
  if (global.size() < 2) return plane;
  std::vector<size_t> chosen;
  for (size_t d = 0; d < global.size(); ++d) {
    std::set<std::pair<int64_t, int64_t>> ranges;
    for (const Shard& s : shards) ranges.emplace(s.box.lo[d], s.box.hi[d]);
    if (ranges.size() > 1 && chosen.size() < 2) chosen.push_back(d);
  }
  for (size_t d = global.size(); d-- > 0 && chosen.size() < 2;) {
    add_once(chosen, d);
  }
  plane.row_dim = static_cast<int>(std::min(chosen[0], chosen[1]));
  plane.column_dim = static_cast<int>(std::max(chosen[0], chosen[1]));
  return plane;
}

namespace {

// The range of a dimension owned by a mesh position, considering only the first `levels` axes.
Range owned(const LayoutSource& source, size_t dim, size_t levels, int64_t position) {
  DimSharding cut = source.sharding->dims[dim];
  cut.axes = merged_axes(*source.mesh, cut.axes);
  // Blocks are counted over all axes; the outer ones alone have no range of their own.
  if (levels < cut.axes.size() && cut.block == 0) cut.axes.resize(levels);
  return part_of(*source.mesh, cut, source.global[dim], position);
}

std::vector<AxisRef> cutting_axes(const LayoutSource& source, size_t dim) {
  if (!source.sharding || !source.mesh || dim >= source.sharding->dims.size()) return {};
  return merged_axes(*source.mesh, source.sharding->dims[dim].axes);
}

}  // namespace

std::vector<std::vector<Band>> bands_of(const LayoutSource& source, size_t dim) {
  const std::vector<AxisRef> axes = cutting_axes(source, dim);
  if (axes.empty()) return {{{0, source.global[dim], ""}}};
  std::vector<std::vector<Band>> levels(axes.size());
  for (size_t level = 0; level < axes.size(); ++level) {
    std::map<int64_t, Band> bands;
    for (int64_t p = 0; p < source.mesh->size(); ++p) {
      const Range range = owned(source, dim, level + 1, p);
      if (range.lo >= range.hi) continue;
      bands.try_emplace(range.lo, Band{range.lo, range.hi,
                                       fmt::format("{}={}", axes[level].to_string(),
                                                   source.mesh->coord(p, axes[level]))});
    }
    for (auto& [lo, band] : bands) levels[level].push_back(std::move(band));
  }
  return levels;
}

std::vector<int64_t> cut_sizes(const LayoutSource& source, size_t dim) {
  const std::vector<AxisRef> axes = cutting_axes(source, dim);
  if (axes.empty()) return {};
  // Keyed by coordinates along the axes, which counts empty parts but not copies.
  std::map<std::vector<int64_t>, int64_t> sizes;
  for (int64_t p = 0; p < source.mesh->size(); ++p) {
    std::vector<int64_t> coordinates;
    for (const AxisRef& axis : axes) coordinates.push_back(source.mesh->coord(p, axis));
    const Range range = owned(source, dim, axes.size(), p);
    sizes[coordinates] = range.hi - range.lo;
  }
  std::vector<int64_t> out;
  for (const auto& [coordinates, size] : sizes) out.push_back(size);
  return out;
}

Fit fit(float rows, float columns, float width, float height, float most, float least) {
  rows = std::max(rows, 1.0f);
  columns = std::max(columns, 1.0f);
  const float cell = std::min({width / columns, height / rows, most});
  Fit f{cell, cell, false};
  // Stretch a side that is too thin for a label.
  if (columns * cell < std::min(least, columns * most)) {
    f.cell_x = std::min(std::min(width, least) / columns, most);
    f.stretched = true;
  }
  if (rows * cell < std::min(least, rows * most)) {
    f.cell_y = std::min(std::min(height, least) / rows, most);
    f.stretched = true;
  }
  return f;
}

}  // namespace hostir::gui
