// Disjoint sets of the numbers from 0 to size - 1.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace hostir {

class UnionFind {
 public:
  explicit UnionFind(size_t size = 0) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  /// The representative of the set of `at`.
  size_t root(size_t at) const {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  /// Joins two sets; the root of `into` represents both.
  void unite(size_t at, size_t into) { parent_[root(at)] = root(into); }

 private:
  mutable std::vector<size_t> parent_;
};

}  // namespace hostir
