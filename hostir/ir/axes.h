// Algebra on lists of mesh axes, and the single check of axis lists written in a program.
//
// A list partitions one dimension, major to minor. Every function takes and returns canonical
// lists: adjacent sub-axes are merged, and a sub-axis that spans its whole axis is written as the
// axis. A sub-axis is an interval [pre, pre * size) of the divisors of its axis. Two references
// overlap if their intervals intersect. They are compatible (can_stand_together) if they do not
// overlap and the end of the major one divides the start of the minor one. `a:(1)2` and `a:(3)2`
// of a=6 are not compatible: the first ends at 2, which does not divide 3. If two cuts do not nest
// (`a:(1)2` and `a:(1)3`), neither is split: the references count as overlapping and unequal, and
// callers replicate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/attribute.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// An invalid entry in a list of axes: its index, the violated constraint and the message.
struct AxisFault {
  size_t index = 0;
  std::string id;  // mesh_c2, sharding_c2, _c3, _c4, _c6 or _c9
  std::string message;
};

/// Checks axes that are used together and returns at most one fault per entry. Faults: the mesh has
/// no such axis; a sub-axis does not divide its axis evenly or spans all of it; two entries overlap
/// or are incompatible. All other functions here require lists without faults.
std::vector<AxisFault> axis_faults(const Mesh& mesh, std::span<const AxisRef> axes);

/// Number of parts into which the axes cut a dimension.
int64_t part_count(const Mesh& mesh, const AxisList& axes);

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool overlap(const Mesh& mesh, const AxisList& a, const AxisList& b);
/// True if one sharding may use both.
bool can_stand_together(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool can_stand_together(const Mesh& mesh, const AxisList& a, const AxisList& b);

/// The longest common prefix; its last entry may be a sub-axis of an entry of `a` or `b`.
AxisList common_prefix(const Mesh& mesh, const AxisList& a, const AxisList& b);
bool is_prefix(const Mesh& mesh, const AxisList& prefix, const AxisList& list);
/// `list` after `prefix`. Requires is_prefix(mesh, prefix, list).
AxisList suffix_after(const Mesh& mesh, const AxisList& list, const AxisList& prefix);
/// The longest prefix of `list` that is compatible with every axis in `used`.
AxisList prefix_avoiding(const Mesh& mesh, const AxisList& list, const AxisList& used);
/// `list` without the axes in `removed`, in the same order. Axes are split where the cuts nest and
/// kept whole where they do not.
AxisList without(const Mesh& mesh, const AxisList& list, const AxisList& removed);
AxisList joined(const Mesh& mesh, const AxisList& a, const AxisList& b);
/// True if both lists cover the same sub-axes, in any order.
bool same_set(const Mesh& mesh, const AxisList& a, const AxisList& b);

/// All axes that the sharding uses, as written: the unreduced ones, then those of each dimension.
AxisList used_axes(const Sharding& sharding);
/// The axes that cut dimensions, in dimension order; unreduced axes are not included.
AxisList dimension_axes(const Mesh& mesh, const Sharding& sharding);

/// The sharding with canonical lists, nothing that only guides propagation, and unreduced axes in
/// mesh order. Axes of size 1 stay as written.
Sharding canonical(const Mesh& mesh, Sharding sharding);
/// canonical() without axes of size 1, which neither cut nor reduce anything.
Sharding effective(const Mesh& mesh, Sharding sharding);

/// True if `position` keeps its elements when a value under `from` becomes partial under `to`, over
/// additional axes. Along an axis that already cuts a dimension every position keeps its own
/// elements; along any other axis only coordinate 0 does. All other positions get the identity of
/// the reduction.
bool keeps_elements(const Mesh& mesh, const Sharding& from, const Sharding& to, int64_t position);

/// One axis of a mesh as a digit of the position's number. The axis must exist.
struct AxisDigit {
  AxisDigit(const Mesh& mesh, const AxisRef& axis);
  /// The coordinate of a position: Mesh::coord without looking up the axis.
  int64_t of(int64_t position) const { return position / stride % size; }
  friend bool operator==(const AxisDigit&, const AxisDigit&) = default;

  int64_t stride = 1;
  int64_t size = 1;
};

/// `{dp, tp:(1)2}`
std::string axes_to_string(const AxisList& axes, bool open = false);

}  // namespace hostir
