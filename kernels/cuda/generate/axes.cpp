#include "kernels/cuda/generate/axes.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::cuda {
namespace {

int64_t volume(const Extents& extents) {
  int64_t v = 1;
  for (const int64_t e : extents) v *= e;
  return v;
}

// All walks of a group, and the place for their joined form.
struct Joined {
  const Walk* walk;
  AxisWalk* into;
};

// Joins the dimensions of one side: neighbours are merged where every walk continues evenly.
Extents join_side(const Group& group, const std::vector<size_t>& dims,
                  const std::vector<Joined>& walks, Extents AxisWalk::*side) {
  Extents axes;
  for (const size_t d : dims) {
    const int64_t extent = group.extents()[d];
    if (extent == 1) continue;
    bool even = !axes.empty();
    for (const Joined& w : walks) {
      even = even && (w.into->*side).back() == w.walk->strides[d] * extent;
    }
    if (even) {
      axes.back() *= extent;
      for (const Joined& w : walks) (w.into->*side).back() = w.walk->strides[d];
    } else {
      axes.push_back(extent);
      for (const Joined& w : walks) (w.into->*side).push_back(w.walk->strides[d]);
    }
  }
  return axes;
}

}  // namespace

int64_t Axes::outer_volume() const { return volume(outer); }
int64_t Axes::inner_volume() const { return volume(inner); }

Axes join_axes(const Group& group, const std::vector<size_t>& outer,
               const std::vector<size_t>& inner) {
  Axes axes;
  axes.loads.resize(group.registers().size());
  axes.stores.resize(group.stores().size());
  std::vector<Joined> walks;
  for (size_t r = 0; r < group.registers().size(); ++r) {
    const Walk& walk = group.registers()[r].walk;
    const Register::From from = group.registers()[r].from;
    if (from != Register::From::kLoad && from != Register::From::kIndex &&
        from != Register::From::kRandom) {
      continue;
    }
    axes.loads[r].offset = walk.offset;
    walks.push_back({&walk, &axes.loads[r]});
  }
  for (size_t s = 0; s < group.stores().size(); ++s) {
    axes.stores[s].offset = group.stores()[s].walk.offset;
    walks.push_back({&group.stores()[s].walk, &axes.stores[s]});
  }
  axes.outer = join_side(group, outer, walks, &AxisWalk::outer);
  axes.inner = join_side(group, inner, walks, &AxisWalk::inner);
  if (axes.inner.empty()) {
    axes.inner.push_back(1);
    for (const Joined& w : walks) w.into->inner.push_back(0);
  }
  return axes;
}

std::vector<size_t> dims_where(const std::vector<bool>& folded, bool is_folded, size_t rank) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < rank; ++d) {
    if ((!folded.empty() && folded[d]) == is_folded) dims.push_back(d);
  }
  return dims;
}

int aligned_elems(const Axes& axes, const AxisWalk& walk, int most) {
  if (axes.inner.back() == 1) return 1;
  if (walk.last() != 1) return 1;
  const auto divides = [&](int64_t by) {
    bool all = walk.offset % by == 0;
    for (const int64_t s : walk.outer) all = all && s % by == 0;
    for (size_t i = 0; i + 1 < walk.inner.size(); ++i) all = all && walk.inner[i] % by == 0;
    return all;
  };
  int elems = most;
  while (elems > 1 && !divides(elems)) elems /= 2;
  return elems;
}

int pick_vector(const Group& group, const Axes& axes, bool may_have_tail) {
  int64_t narrowest = 8;
  const auto look = [&](DType dtype) { narrowest = std::min(narrowest, size_bytes(dtype)); };
  bool all_narrow = true;
  const auto each_full_walk = [&](auto f) {
    for (size_t r = 0; r < group.registers().size(); ++r) {
      const Register& reg = group.registers()[r];
      if (reg.from == Register::From::kLoad && !reg.is_row) f(reg.dtype, axes.loads[r]);
    }
    for (size_t s = 0; s < group.stores().size(); ++s) {
      const Register& reg = group.at(group.stores()[s].reg);
      if (!reg.is_row) f(reg.dtype, axes.stores[s]);
    }
  };
  each_full_walk([&](DType dtype, const AxisWalk&) {
    look(dtype);
    all_narrow = all_narrow && size_bytes(dtype) == 1;
  });
  int vector = narrowest == 1 ? (all_narrow ? 16 : 8) : static_cast<int>(16 / narrowest);
  const int64_t last = axes.inner.back();
  const bool tail = may_have_tail && axes.inner.size() == 1 && last >= vector;
  while (vector > 1 && !tail && last % vector != 0) vector /= 2;
  // No wider than memory accesses allow; otherwise elements of adjacent threads would be far apart.
  int widest = 1;
  each_full_walk([&](DType, const AxisWalk& walk) {
    widest = std::max(widest, aligned_elems(axes, walk, vector));
  });
  return std::min(vector, widest);
}

std::string index_type(const Group& group, const Axes& axes) {
  constexpr int64_t kMost = int64_t{1} << 31;
  bool fits = axes.outer_volume() * axes.inner_volume() < kMost;
  const auto look = [&](const AxisWalk& walk) {
    int64_t reach = walk.offset;
    for (size_t d = 0; d < walk.outer.size(); ++d) reach += walk.outer[d] * axes.outer[d];
    for (size_t d = 0; d < walk.inner.size(); ++d) reach += walk.inner[d] * axes.inner[d];
    fits = fits && reach < kMost;
  };
  for (size_t r = 0; r < axes.loads.size(); ++r) {
    if (group.registers()[r].from == Register::From::kLoad) look(axes.loads[r]);
  }
  for (const AxisWalk& walk : axes.stores) look(walk);
  return fits ? "unsigned" : "u64t";
}

std::string take_apart(const std::string& linear, const Extents& extents, int vector,
                       const std::string& prefix, const std::string& indent) {
  std::string text;
  std::string rest = linear;
  for (size_t d = extents.size(); d > 0; --d) {
    const bool is_last = d == extents.size();
    const std::string scale = is_last && vector > 1 ? fmt::format(" * {}", vector) : "";
    const int64_t count = is_last ? extents[d - 1] / vector : extents[d - 1];
    if (d == 1) {
      text += fmt::format("{}const index {}0 = {}{};\n", indent, prefix, rest, scale);
    } else {
      text += fmt::format("{}const index {}{} = {} % {}{};\n", indent, prefix, d - 1, rest, count,
                          scale);
      rest = fmt::format("({} / {})", rest, count);
    }
  }
  return text;
}

std::string offset_text(int64_t offset, const Extents& strides, const std::string& prefix) {
  std::string text;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    if (!text.empty()) text += " + ";
    text += fmt::format("{}{}", prefix, d);
    if (strides[d] != 1) text += fmt::format(" * {}", strides[d]);
  }
  if (offset != 0 || text.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : " + ", offset);
  }
  return text;
}

std::string offset_text(const AxisWalk& walk) {
  const std::string rows = offset_text(0, walk.outer, "row");
  const std::string columns = offset_text(walk.offset, walk.inner, "c");
  if (rows == "0") return columns;
  return columns == "0" ? rows : rows + " + " + columns;
}

}  // namespace hostir::cuda
