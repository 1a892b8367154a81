// Algebra on lists of mesh axes.
//
// A list cuts one dimension, major to minor. Every function takes and returns canonical lists:
// adjacent sub-axes merged, a sub-axis that is the whole axis written as the axis. Two references
// overlap when they share a sub-axis: intervals [pre, pre * size) of one axis that intersect.
// Where cuts of one axis do not nest (`a:(1)2` against `a:(1)3` of a=6) nothing is split and the
// references simply count as overlapping and unequal; callers then fall back to replicating.
#pragma once

#include <cstdint>
#include <vector>

#include "hostir/ir/attribute.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// Number of parts that the axes cut a dimension into.
int64_t part_count(const Mesh& mesh, const AxisList& axes);

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool overlap(const Mesh& mesh, const AxisList& a, const AxisList& b);

/// The longest list that both begin with; a sub-axis may be the last agreement.
AxisList common_prefix(const Mesh& mesh, const AxisList& a, const AxisList& b);
bool is_prefix(const Mesh& mesh, const AxisList& prefix, const AxisList& list);
/// What follows `prefix` in `list`; `prefix` must be one (is_prefix).
AxisList suffix_after(const Mesh& mesh, const AxisList& list, const AxisList& prefix);
/// The longest prefix of `list` that overlaps nothing in `used`.
AxisList prefix_avoiding(const Mesh& mesh, const AxisList& list, const AxisList& used);
/// `list` without everything in `removed`, order kept, sub-axes split where they nest.
AxisList without(const Mesh& mesh, const AxisList& list, const AxisList& removed);
AxisList joined(const Mesh& mesh, const AxisList& a, const AxisList& b);
/// True if both cover the same sub-axes, in any order.
bool same_set(const Mesh& mesh, const AxisList& a, const AxisList& b);

/// All axes that cut a dimension (not the unreduced ones), in dimension order.
AxisList dimension_axes(const Mesh& mesh, const Sharding& sharding);

/// The sharding with canonical lists, no open dimensions, unreduced axes in mesh order, axes of
/// size 1 kept as written.
Sharding canonical(const Mesh& mesh, Sharding sharding);
/// canonical() without axes of size 1, which cut nothing and reduce nothing.
Sharding effective(const Mesh& mesh, Sharding sharding);

/// `{dp, tp:(1)2}`
std::string axes_to_string(const AxisList& axes);

}  // namespace hostir
