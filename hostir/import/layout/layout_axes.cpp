#include "hostir/import/layout/layout_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hostir::importer {

namespace {

constexpr int64_t kMostPositions = 4096;

}  // namespace

FineMesh::FineMesh(const Mesh& given) : mesh(given) {
  mesh.axes.clear();
  for (const MeshAxis& axis : given.axes) {
    int64_t rest = axis.size;
    for (int64_t factor = 2; rest > 1; ++factor) {
      if (factor * factor > rest) factor = rest;
      for (; rest % factor == 0; rest /= factor) {
        const bool whole = factor == axis.size;
        const int64_t before = axis.size / rest;
        mesh.axes.push_back(
            {whole ? axis.name : fmt::format("{}:({}){}", axis.name, before, factor), factor});
        origins.push_back(whole ? AxisRef{axis.name, 1, 0} : AxisRef{axis.name, before, factor});
      }
    }
  }
}

AxisNames FineMesh::axes_of(const AxisRef& axis) const {
  AxisNames out;
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    const AxisRef& from = origins[i];
    const bool inside = axis.whole() || (from.pre >= axis.pre && from.pre < axis.pre * axis.size);
    if (from.name == axis.name && inside) out.push_back(mesh.axes[i].name);
  }
  return out;
}

int64_t part_number(const Mesh& mesh, const AxisNames& axes, int64_t position) {
  int64_t number = 0;
  for (const std::string& axis : axes) {
    const auto at = mesh.axis_index(axis);
    if (at) number = number * mesh.axes[*at].size + mesh.coord(position, *at);
  }
  return number;
}

std::optional<AxisNames> axes_that_number(const Mesh& mesh, const std::vector<int64_t>& parts) {
  if (parts.empty() || mesh.size() > kMostPositions) return std::nullopt;
  // One step along an axis changes the number by the product of the sizes of the axes minor to it.
  std::vector<std::pair<int64_t, std::string>> strides;
  int64_t position = mesh.size();
  for (const MeshAxis& axis : mesh.axes) {
    position /= std::max<int64_t>(axis.size, 1);  // 1 along this axis, 0 along all others
    if (axis.size < 2 || static_cast<size_t>(position) >= parts.size()) continue;
    const int64_t stride = parts[static_cast<size_t>(position)];
    if (stride != 0) strides.emplace_back(stride, axis.name);
  }
  std::sort(strides.rbegin(), strides.rend());
  AxisNames order;
  for (const auto& [stride, axis] : strides) order.push_back(axis);
  for (size_t p = 0; p < parts.size(); ++p) {
    if (part_number(mesh, order, static_cast<int64_t>(p)) != parts[p]) return std::nullopt;
  }
  return order;
}

std::optional<AxisNames> axes_after(const Mesh& mesh, const AxisNames& axes,
                                    const std::vector<int64_t>& pairs) {
  const auto devices = static_cast<size_t>(mesh.size());
  if (pairs.size() != 2 * devices) return std::nullopt;
  std::vector<int64_t> parts(devices, -1);
  for (size_t p = 0; p < pairs.size(); p += 2) {
    const auto source = mesh.position_of(pairs[p]);
    const auto target = mesh.position_of(pairs[p + 1]);
    if (!source || !target) return std::nullopt;
    parts[static_cast<size_t>(*target)] = part_number(mesh, axes, *source);
  }
  return axes_that_number(mesh, parts);
}

}  // namespace hostir::importer
