#include "hostir/ir/mesh.h"

#include <algorithm>

namespace hostir {

std::string AxisRef::to_string() const {
  if (whole()) return name;
  return name + ":(" + std::to_string(pre) + ")" + std::to_string(size);
}

int64_t Mesh::size() const {
  int64_t n = 1;
  for (const MeshAxis& axis : axes) n *= axis.size;
  return n;
}

int64_t Mesh::rank_at(int64_t position) const {
  return device_ids.empty() ? position : device_ids[static_cast<size_t>(position)];
}

std::optional<int64_t> Mesh::position_of(int64_t rank) const {
  if (device_ids.empty()) return rank >= 0 && rank < size() ? std::optional(rank) : std::nullopt;
  const auto at = std::find(device_ids.begin(), device_ids.end(), rank);
  if (at == device_ids.end()) return std::nullopt;
  return at - device_ids.begin();
}

std::optional<size_t> Mesh::axis_index(std::string_view axis) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == axis) return i;
  }
  return std::nullopt;
}

int64_t Mesh::coord(int64_t position, size_t axis) const {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < axes.size(); ++i) stride *= axes[i].size;
  return position / stride % axes[axis].size;
}

int64_t Mesh::axis_size(const AxisRef& axis) const {
  return axis.whole() ? axes[*axis_index(axis.name)].size : axis.size;
}

int64_t Mesh::coord(int64_t position, const AxisRef& axis) const {
  const size_t index = *axis_index(axis.name);
  const int64_t whole = coord(position, index);
  if (axis.whole()) return whole;
  const int64_t minor = axes[index].size / (axis.pre * axis.size);
  return whole / minor % axis.size;
}

std::vector<int64_t> Mesh::ranks() const {
  std::vector<int64_t> out;
  const int64_t n = size();
  for (int64_t p = 0; p < n; ++p) out.push_back(rank_at(p));
  return out;
}

void resolve_sub_mesh(const Mesh& parent, Mesh& sub) {
  const auto fixed = [&](std::string_view axis) {
    return std::find_if(sub.fixed.begin(), sub.fixed.end(),
                        [&](const FixedCoord& f) { return f.axis == axis; });
  };
  sub.axes.clear();
  for (const MeshAxis& axis : parent.axes) {
    if (fixed(axis.name) == sub.fixed.end()) sub.axes.push_back(axis);
  }
  sub.device_ids.clear();
  const int64_t n = parent.size();
  for (int64_t p = 0; p < n; ++p) {
    const bool inside = std::all_of(sub.fixed.begin(), sub.fixed.end(), [&](const FixedCoord& f) {
      return parent.coord(p, *parent.axis_index(f.axis)) == f.position;
    });
    if (inside) sub.device_ids.push_back(parent.rank_at(p));
  }
}

std::vector<std::vector<int64_t>> groups_over(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  // A group is the set of positions that differ only in their coordinates along `axes`. Its key is
  // the position with those coordinates set to zero; the order inside it is row-major over `axes`.
  const int64_t n = mesh.size();
  int64_t group_size = 1;
  for (const AxisRef& a : axes) group_size *= mesh.axis_size(a);
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> group_of_key(static_cast<size_t>(n), -1);
  for (int64_t p = 0; p < n; ++p) {
    int64_t key = p;
    int64_t place = 0;
    for (const AxisRef& a : axes) {
      const size_t index = *mesh.axis_index(a.name);
      int64_t stride = 1;
      for (size_t i = index + 1; i < mesh.axes.size(); ++i) stride *= mesh.axes[i].size;
      const int64_t minor = a.whole() ? 1 : mesh.axes[index].size / (a.pre * a.size);
      const int64_t c = mesh.coord(p, a);
      key -= c * minor * stride;
      place = place * mesh.axis_size(a) + c;
    }
    int64_t& group = group_of_key[static_cast<size_t>(key)];
    if (group < 0) {
      group = static_cast<int64_t>(groups.size());
      groups.emplace_back(static_cast<size_t>(group_size), -1);
    }
    groups[static_cast<size_t>(group)][static_cast<size_t>(place)] = mesh.rank_at(p);
  }
  return groups;
}

std::vector<AxisRef> merged_axes(const Mesh& mesh, const std::vector<AxisRef>& axes) {
  // Only sub-axes merge; lowering asks for this millions of times, mostly with whole axes.
  const auto is_whole = [](const AxisRef& a) { return a.whole(); };
  if (std::all_of(axes.begin(), axes.end(), is_whole)) return axes;
  std::vector<AxisRef> out;
  for (const AxisRef& a : axes) {
    if (!out.empty() && !a.whole() && !out.back().whole() && out.back().name == a.name &&
        out.back().pre * out.back().size == a.pre) {
      out.back().size *= a.size;
    } else {
      out.push_back(a);
    }
    const auto index = mesh.axis_index(a.name);
    if (index && out.back().pre == 1 && out.back().size == mesh.axes[*index].size) {
      out.back().size = 0;
    }
  }
  return out;
}

}  // namespace hostir
