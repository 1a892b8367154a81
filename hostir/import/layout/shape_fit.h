// Places the axes of a mesh so that a local shape becomes a known whole one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

/// Starts from a guess and from the axes along which the devices differ.
class ShapeFit {
 public:
  ShapeFit(const Mesh& mesh, const Sharding& guess, std::vector<std::string> differs)
      : mesh_(mesh), guess_(guess), differs_(std::move(differs)), dims_(mesh.axes.size(), kNone) {}

  // The guess itself if it fits, or if nothing does.
  Sharding find(const std::vector<int64_t>& local, const std::vector<int64_t>& whole) {
    if (local.size() != whole.size()) return guess_;
    std::vector<int64_t> left;
    int64_t of_guess = 0;
    for (size_t d = 0; d < local.size(); ++d) {
      const bool divides = local[d] > 0 && whole[d] % local[d] == 0;
      if (!divides && local[d] != whole[d]) return guess_;
      left.push_back(divides ? whole[d] / local[d] : 1);
      int64_t parts = 1;
      for (const AxisRef& axis : guess_.dims[d].axes) parts *= mesh_.axis_size(axis);
      of_guess += parts == left.back();
    }
    if (of_guess == static_cast<int64_t>(local.size())) return guess_;
    place(0, std::move(left), 0);
    return best_ ? sharding(*best_) : guess_;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Prefers axes where the guess has them, and to cut by axes along which the devices differ.
  int64_t score(size_t axis, size_t dim) const {
    const std::string& name = mesh_.axes[axis].name;
    const bool differs = contains(differs_, name);
    if (dim == kNone) return differs ? -2 : 0;
    return (differs ? 2 : -1) + (has(guess_.dims[dim], name) ? 1 : 0);
  }

  void place(size_t axis, std::vector<int64_t> left, int64_t score_so_far) {
    if (axis == mesh_.axes.size()) {
      const bool fits = std::all_of(left.begin(), left.end(), [](int64_t n) { return n == 1; });
      if (!fits || (best_ && score_so_far <= best_score_)) return;
      best_ = dims_;
      best_score_ = score_so_far;
      return;
    }
    const int64_t size = mesh_.axes[axis].size;
    for (size_t d = 0; d < left.size(); ++d) {
      if (size < 2 || left[d] % size != 0) continue;
      dims_[axis] = d;
      std::vector<int64_t> rest = left;
      rest[d] /= size;
      place(axis + 1, std::move(rest), score_so_far + score(axis, d));
    }
    dims_[axis] = kNone;
    place(axis + 1, std::move(left), score_so_far + score(axis, kNone));
  }

  static bool has(const DimSharding& dim, const std::string& name) {
    return std::any_of(dim.axes.begin(), dim.axes.end(),
                       [&](const AxisRef& axis) { return axis.name == name; });
  }

  // Axes of a dimension in the order of the guess or, if it does not have them all, of the mesh.
  Sharding sharding(const std::vector<size_t>& dims) const {
    Sharding out = Sharding::replicated(mesh_.name, guess_.dims.size());
    for (size_t d = 0; d < out.dims.size(); ++d) {
      const auto placed = [&](const std::string& name) {
        const auto index = mesh_.axis_index(name);
        return index && dims[*index] == d;
      };
      bool guessed = true;
      DimSharding in_order;
      for (const MeshAxis& axis : mesh_.axes) {
        if (!placed(axis.name)) continue;
        guessed = guessed && has(guess_.dims[d], axis.name);
        in_order.axes.push_back({axis.name, 1, 0});
      }
      for (const AxisRef& axis : guess_.dims[d].axes) {
        if (guessed && placed(axis.name)) out.dims[d].axes.push_back(axis);
      }
      if (!guessed) out.dims[d] = std::move(in_order);
    }
    return out;
  }

  const Mesh& mesh_;
  const Sharding& guess_;
  const std::vector<std::string> differs_;
  std::vector<size_t> dims_;  // of each axis
  std::optional<std::vector<size_t>> best_;
  int64_t best_score_ = 0;
};

}  // namespace hostir::importer
