// Reduces the space of a group to as few axes as its walks allow.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/generate/group.h"

namespace hostir::cuda {

/// A walk over joined axes.
struct AxisWalk {
  int64_t offset = 0;
  Extents outer;
  Extents inner;
  int64_t last() const { return inner.back(); }
};

/// Outer axes: the rows of a group with folds, else none. Inner axes: the rest, at least one.
/// Vectors are along the last inner axis.
struct Axes {
  Extents outer;
  Extents inner;
  std::vector<AxisWalk> loads;   // by register; empty if it is not a walk
  std::vector<AxisWalk> stores;  // by store
  int64_t outer_volume() const;
  int64_t inner_volume() const;
};

/// `outer` and `inner`: dimensions of the group's space in walking order.
Axes join_axes(const Group& group, const std::vector<size_t>& outer,
               const std::vector<size_t>& inner);

/// The dimensions that are folded, or those that are not.
std::vector<size_t> dims_where(const std::vector<bool>& folded, bool is_folded, size_t rank);

/// The largest power of two up to `most` such that a walk has aligned groups of that many elements
/// along the last axis; 1 if it is not contiguous there.
int aligned_elems(const Axes& axes, const AxisWalk& walk, int most);

/// Elements per vector: 16 bytes of the narrowest memory dtype if extents and alignment allow. With
/// `may_have_tail` the last axis need not be a multiple.
int pick_vector(const Group& group, const Axes& axes, bool may_have_tail);

/// `unsigned` if all indices fit.
std::string index_type(const Group& group, const Axes& axes);

/// Lines that decompose a linear index: `const index c1 = t % 4 * 8;` ... The last axis counts
/// vectors.
std::string take_apart(const std::string& linear, const Extents& extents, int vector,
                       const std::string& prefix, const std::string& indent);

/// `c0 * 4096 + c1`, or `0`.
std::string offset_text(int64_t offset, const Extents& strides, const std::string& prefix);
/// Both parts of a walk; `row` and `c` are the prefixes.
std::string offset_text(const AxisWalk& walk);

}  // namespace hostir::cuda
