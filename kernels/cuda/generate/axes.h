// The space of a group as few axes as its walks allow.
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

/// Outer axes: rows of a group with folds, else none. Inner axes: the rest, at least one. The last
/// inner axis is the one that vectors lie along.
struct Axes {
  Extents outer;
  Extents inner;
  std::vector<AxisWalk> loads;   // by register; empty where it is no walk
  std::vector<AxisWalk> stores;  // by store
  int64_t outer_volume() const;
  int64_t inner_volume() const;
};

/// `outer` and `inner`: dimensions of the group's space in the order they are walked.
Axes join_axes(const Group& group, const std::vector<size_t>& outer,
               const std::vector<size_t>& inner);

/// The dimensions that are folded, or not.
std::vector<size_t> dims_where(const std::vector<bool>& folded, bool is_folded, size_t rank);

/// The largest power of two up to `most` elements of which a walk has aligned groups along the last
/// axis; 1 where it is not contiguous there.
int aligned_elems(const Axes& axes, const AxisWalk& walk, int most);

/// Elements per vector: 16 bytes of the narrowest memory element where extents and alignment allow.
/// With `may_have_tail` the last axis need not be a multiple.
int pick_vector(const Group& group, const Axes& axes, bool may_have_tail);

/// `unsigned` where all indices fit.
std::string index_type(const Group& group, const Axes& axes);

/// Lines that take a linear index apart: `const index c1 = t % 4 * 8;` ... The last axis counts
/// vectors.
std::string take_apart(const std::string& linear, const Extents& extents, int vector,
                       const std::string& prefix, const std::string& indent);

/// `c0 * 4096 + c1`, or `0`.
std::string offset_text(int64_t offset, const Extents& strides, const std::string& prefix);
/// Both parts of a walk; `row` and `c` are the prefixes.
std::string offset_text(const AxisWalk& walk);

}  // namespace hostir::cuda
