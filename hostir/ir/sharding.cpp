#include "hostir/ir/sharding.h"

#include <algorithm>

#include "hostir/ir/axes.h"

namespace hostir {

Sharding Sharding::replicated(std::string mesh, size_t rank) {
  Sharding s;
  s.mesh = std::move(mesh);
  s.dims.resize(rank);
  return s;
}

bool Sharding::is_fully_replicated() const {
  return unreduced.empty() &&
         std::all_of(dims.begin(), dims.end(), [](const DimSharding& d) { return d.axes.empty(); });
}

std::string Sharding::dims_to_string() const {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    out += (i ? ", " : "") + axes_to_string(dims[i].axes, dims[i].open);
    if (dims[i].block != 0) out += " by " + std::to_string(dims[i].block);
    if (dims[i].origin != 0) out += " from " + std::to_string(dims[i].origin);
    if (dims[i].unit != 1) out += " of " + std::to_string(dims[i].unit);
    if (dims[i].turn != 0) out += " turned " + std::to_string(dims[i].turn);
    if (dims[i].priority != 0) out += "p" + std::to_string(dims[i].priority);
  }
  out += "]";
  if (!pinned.empty()) out += ", replicated=" + axes_to_string(pinned);
  if (unreduced.empty()) return out;
  out += ", unreduced=";
  if (unreduced_kind != Reduction::kSum) out += hostir::name(unreduced_kind);
  return out + axes_to_string(unreduced);
}

std::string Sharding::to_string() const { return "<@" + mesh + ", " + dims_to_string() + ">"; }

std::string Sharding::to_pytorch() const {
  std::string out;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const AxisRef& a : dims[d].axes) {
      out += (out.empty() ? "S(" : ", S(") + std::to_string(d) + ")@" + a.to_string();
    }
  }
  for (const AxisRef& a : unreduced) {
    out += (out.empty() ? "P(" : ", P(") + std::string(hostir::name(unreduced_kind)) + ")@" +
           a.to_string();
  }
  return out.empty() ? "R" : out;
}

Box Box::whole(const Extents& extents) {
  return {std::vector<int64_t>(extents.size(), 0), extents};
}

Extents Box::extents() const {
  Extents out(lo.size());
  for (size_t i = 0; i < lo.size(); ++i) out[i] = std::max<int64_t>(0, hi[i] - lo[i]);
  return out;
}

int64_t Box::volume() const {
  int64_t v = 1;
  for (size_t i = 0; i < lo.size(); ++i) v *= std::max<int64_t>(0, hi[i] - lo[i]);
  return v;
}

bool Box::contains(const Box& other) const {
  if (other.empty()) return true;
  for (size_t i = 0; i < lo.size(); ++i) {
    if (other.lo[i] < lo[i] || other.hi[i] > hi[i]) return false;
  }
  return true;
}

bool Box::holds(const std::vector<int64_t>& index) const {
  if (index.size() != lo.size()) return false;
  for (size_t d = 0; d < lo.size(); ++d) {
    if (index[d] < lo[d] || index[d] >= hi[d]) return false;
  }
  return true;
}

std::vector<int64_t> Box::index_at(int64_t place) const {
  std::vector<int64_t> index(lo.size());
  for (size_t d = lo.size(); d-- > 0;) {
    const int64_t extent = std::max<int64_t>(hi[d] - lo[d], 1);
    index[d] = lo[d] + place % extent;
    place /= extent;
  }
  return index;
}

Box Box::intersect(const Box& other) const {
  Box out = *this;
  for (size_t i = 0; i < lo.size(); ++i) {
    out.lo[i] = std::max(lo[i], other.lo[i]);
    out.hi[i] = std::max(out.lo[i], std::min(hi[i], other.hi[i]));
  }
  return out;
}

Range cut(Range range, int64_t parts, int64_t part) {
  const int64_t n = range.hi - range.lo;
  const int64_t c = n <= 0 ? 0 : (n - 1) / parts + 1;
  return {range.lo + std::min(n, part * c), range.lo + std::min(n, (part + 1) * c)};
}

Range elements_of(Range units, int64_t unit, int64_t size) {
  return {std::min(units.lo * unit, size), std::min(units.hi * unit, size)};
}

Range block_of(const DimSharding& dim, int64_t size, int64_t parts, int64_t part) {
  const bool forwards = dim.block > 0;
  const int64_t nth = forwards ? part : parts - 1 - part;  // counted from the low end
  const int64_t begin = dim.origin + part * dim.block;
  const auto within = [&](int64_t at) { return std::clamp<int64_t>(at, 0, size); };
  const int64_t low = within(forwards ? begin : begin + dim.block);
  const int64_t high = within(forwards ? begin + dim.block : begin);
  return {nth == 0 ? 0 : low, nth == parts - 1 ? size : high};
}

Range part_of(const Mesh& mesh, const DimSharding& dim, int64_t size, int64_t position) {
  const std::vector<AxisRef>& axes = dim.axes;
  if (dim.turn != 0) {
    size_t part = 0;
    for (const AxisRef& axis : axes) {
      part = part * static_cast<size_t>(mesh.axis_size(axis)) +
             static_cast<size_t>(mesh.coord(position, axis));
    }
    return parts_of(mesh, dim, size)[part];
  }
  const bool whole =
      std::all_of(axes.begin(), axes.end(), [](const AxisRef& a) { return a.whole(); });
  const std::vector<AxisRef> merged = whole ? std::vector<AxisRef>() : merged_axes(mesh, axes);
  Range range{0, units_in(size, dim.unit)};
  int64_t parts = 1;
  int64_t part = 0;
  for (const AxisRef& axis : whole ? axes : merged) {
    const int64_t count = mesh.axis_size(axis);
    const int64_t at = mesh.coord(position, axis);
    if (dim.block == 0) range = cut(range, count, at);
    parts *= count;
    part = part * count + at;
  }
  return dim.block == 0 ? elements_of(range, dim.unit, size) : block_of(dim, size, parts, part);
}

std::vector<Range> parts_of(const Mesh& mesh, const DimSharding& dim, int64_t size) {
  std::vector<Range> parts = {{0, units_in(size, dim.unit)}};
  for (const AxisRef& axis : merged_axes(mesh, dim.axes)) {
    const int64_t count = mesh.axis_size(axis);
    std::vector<Range> finer;
    finer.reserve(parts.size() * static_cast<size_t>(count));
    for (const Range& range : parts) {
      for (int64_t part = 0; part < count; ++part) finer.push_back(cut(range, count, part));
    }
    parts = std::move(finer);
  }
  const auto count = static_cast<int64_t>(parts.size());
  for (int64_t p = 0; p < count; ++p) {
    Range& part = parts[static_cast<size_t>(p)];
    part = dim.block == 0 ? elements_of(part, dim.unit, size) : block_of(dim, size, count, p);
  }
  const int64_t first = (count - dim.turn % count) % count;  // the part of position 0
  std::rotate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end());
  return parts;
}

Box shard_box(const Mesh& mesh, const Sharding& sharding, const Extents& extents,
              int64_t position) {
  Box box = Box::whole(extents);
  for (size_t d = 0; d < extents.size() && d < sharding.dims.size(); ++d) {
    const Range range = part_of(mesh, sharding.dims[d], extents[d], position);
    box.lo[d] = range.lo;
    box.hi[d] = range.hi;
  }
  return box;
}

std::vector<Box> shard_boxes(const Mesh& mesh, const Sharding& sharding, const Extents& extents) {
  std::vector<Box> boxes;
  const int64_t n = mesh.size();
  boxes.reserve(static_cast<size_t>(n));
  for (int64_t p = 0; p < n; ++p) boxes.push_back(shard_box(mesh, sharding, extents, p));
  return boxes;
}

bool is_partial_root(const Mesh& mesh, const Sharding& sharding, int64_t position) {
  return std::all_of(sharding.unreduced.begin(), sharding.unreduced.end(),
                     [&](const AxisRef& a) { return mesh.coord(position, a) == 0; });
}

}  // namespace hostir
