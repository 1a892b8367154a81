#include "hostir/passes/meshes/mesh_arrangement.h"

#include <algorithm>

#include "hostir/passes/prepare/assumed_size.h"

namespace hostir {

namespace {

constexpr int kMaxTried = 400;  // arrangements; the first ones have the axes in mesh order

// The axes, each split into prime parts, major to minor. `largest_first` orders the primes of one
// axis: sub-axes of 6 are 2 and then 3, or 3 and then 2.
AxisList prime_parts(const Mesh& mesh, bool largest_first) {
  AxisList out;
  for (const MeshAxis& axis : mesh.axes) {
    std::vector<int64_t> primes;
    int64_t rest = axis.size;
    for (int64_t p = 2; rest > 1; ++p) {
      if (p * p > rest) p = rest;
      for (; rest % p == 0; rest /= p) primes.push_back(p);
    }
    if (largest_first) std::reverse(primes.begin(), primes.end());
    int64_t pre = 1;
    for (const int64_t p : primes) {
      out.push_back({axis.name, pre, p});
      pre *= p;
    }
  }
  return out;
}

class ArrangementSearch {
 public:
  ArrangementSearch(const Mesh& mesh, const Mesh& other_mesh, const Sharding& other,
                    const Extents& extents)
      : mesh_(mesh), other_(other), extents_(extents) {
    for (const DimSharding& d : other.dims) wanted_.push_back(part_count(other_mesh, d.axes));
    wanted_.push_back(part_count(other_mesh, other.unreduced));
    for (int64_t p = 0; p < mesh.size(); ++p) {
      const auto q = other_mesh.position_of(mesh.rank_at(p));
      boxes_.push_back(q ? std::optional(shard_box(other_mesh, other, extents, *q)) : std::nullopt);
    }
  }

  std::optional<Sharding> run() {
    for (const bool largest_first : {false, true}) {
      parts_ = prime_parts(mesh_, largest_first);
      used_.assign(parts_.size(), false);
      lists_.assign(wanted_.size(), {});
      tried_ = 0;
      fill(0, wanted_.empty() ? 1 : wanted_.front());
    }
    return best_;
  }

 private:
  bool done() const {
    return tried_ >= kMaxTried || best_alike_ == static_cast<int64_t>(boxes_.size());
  }

  // Gives list `list` axes until it has `missing` more parts, then the lists after it.
  void fill(size_t list, int64_t missing) {
    if (done()) return;
    if (missing == 1) {
      if (list + 1 == wanted_.size()) return consider();
      return fill(list + 1, wanted_[list + 1]);
    }
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (used_[p] || missing % parts_[p].size != 0) continue;
      used_[p] = true;
      lists_[list].push_back(parts_[p]);
      fill(list, missing / parts_[p].size);
      lists_[list].pop_back();
      used_[p] = false;
    }
  }

  void consider() {
    ++tried_;
    Sharding s = other_;
    s.mesh = mesh_.name;
    for (size_t d = 0; d < s.dims.size(); ++d) s.dims[d].axes = lists_[d];
    s.unreduced = lists_.back();
    s = effective(mesh_, std::move(s));
    int64_t alike = 0;
    for (size_t p = 0; p < boxes_.size(); ++p) {
      if (!boxes_[p] || *boxes_[p] == shard_box(mesh_, s, extents_, static_cast<int64_t>(p)))
        ++alike;
    }
    if (alike <= best_alike_) return;
    best_alike_ = alike;
    best_ = std::move(s);
  }

  const Mesh& mesh_;
  const Sharding& other_;
  const Extents& extents_;
  std::vector<int64_t> wanted_;  // parts by dimension, then addends
  std::vector<std::optional<Box>>
      boxes_;  // by position; nullopt: the rank is not in the other mesh
  AxisList parts_;
  std::vector<bool> used_;  // by part
  std::vector<AxisList> lists_;
  int tried_ = 0;
  int64_t best_alike_ = -1;
  std::optional<Sharding> best_;
};

}  // namespace

Extents typical_extents(const Shape& shape) {
  Extents out;
  for (const IndexExpr& size : shape) out.push_back(assumed_size(size));
  return out;
}

std::optional<Sharding> arranged_like(const Mesh& mesh, const Mesh& other_mesh,
                                      const Sharding& other, const Extents& extents) {
  return ArrangementSearch(mesh, other_mesh, other, extents).run();
}

Sharding cut_over_all(const Mesh& mesh, Sharding sharding, const Extents& extents) {
  sharding.unreduced.clear();
  sharding.unreduced_kind = Reduction::kSum;
  if (sharding.dims.empty()) return sharding;
  AxisList all;
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.size > 1) all.push_back({axis.name, 1, 0});
  }
  for (const AxisRef& axis : without(mesh, all, dimension_axes(mesh, sharding))) {
    if (!can_stand_together(mesh, {axis}, dimension_axes(mesh, sharding))) continue;
    // The dimension with the longest parts, an evenly cut one among equals.
    size_t best = 0;
    double longest = -1;
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
      const int64_t parts = part_count(mesh, sharding.dims[d].axes);
      const bool even = extents[d] % (parts * mesh.axis_size(axis)) == 0;
      const double length =
          static_cast<double>(extents[d]) / static_cast<double>(parts) * (even ? 1.0 : 0.25);
      if (length <= longest) continue;
      longest = length;
      best = d;
    }
    sharding.dims[best].axes = joined(mesh, sharding.dims[best].axes, {axis});
  }
  return effective(mesh, std::move(sharding));
}

}  // namespace hostir
