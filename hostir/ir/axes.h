// Algebra on lists of mesh axes, and the one check of lists that come from a text.
//
// A list cuts one dimension, major to minor. Every function takes and returns canonical lists:
// adjacent sub-axes merged, a sub-axis that is the whole axis written as the axis. A sub-axis is an
// interval [pre, pre * size) of the divisors of its axis. Two references overlap when their
// intervals intersect; they can stand together when they do not overlap and the end of the major
// one divides the beginning of the minor one (`a:(1)2` and `a:(3)2` of a=6 cannot: no six
// coordinates are pairs of these two). Where cuts do not nest (`a:(1)2` against `a:(1)3`) nothing
// is split and the references count as overlapping and unequal; callers then replicate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/attribute.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// What is wrong with a list of axes: which entry, the id of the constraint, and the sentence.
struct AxisFault {
  size_t index = 0;
  std::string id;  // mesh_c2, sharding_c2, _c3, _c4, _c6 or _c9
  std::string message;
};

/// Everything that may be wrong with axes that a text names together, at most one fault for each:
/// an axis that the mesh lacks, a sub-axis that does not cut its axis evenly or is all of it, two
/// that overlap or that cannot stand together. All other functions need lists without faults.
std::vector<AxisFault> axis_faults(const Mesh& mesh, std::span<const AxisRef> axes);

/// Number of parts that the axes cut a dimension into.
int64_t part_count(const Mesh& mesh, const AxisList& axes);

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool overlap(const Mesh& mesh, const AxisList& a, const AxisList& b);
/// True if a sharding may name both.
bool can_stand_together(const Mesh& mesh, const AxisRef& a, const AxisRef& b);
bool can_stand_together(const Mesh& mesh, const AxisList& a, const AxisList& b);

/// The longest list that both begin with; a sub-axis may be the last agreement.
AxisList common_prefix(const Mesh& mesh, const AxisList& a, const AxisList& b);
bool is_prefix(const Mesh& mesh, const AxisList& prefix, const AxisList& list);
/// What follows `prefix` in `list`; `prefix` must be one (is_prefix).
AxisList suffix_after(const Mesh& mesh, const AxisList& list, const AxisList& prefix);
/// The longest prefix of `list` that can stand together with everything in `used`.
AxisList prefix_avoiding(const Mesh& mesh, const AxisList& list, const AxisList& used);
/// `list` without everything in `removed`, order kept, sub-axes split where they nest and kept
/// whole where they do not.
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

/// Whether a position keeps its elements when a value under `from` becomes partial as `to` says,
/// over more axes: those that cut a dimension already tell their elements apart, along the others
/// coordinate 0 keeps. Every other position gets the identity of the reduction.
bool keeps_elements(const Mesh& mesh, const Sharding& from, const Sharding& to, int64_t position);

/// `{dp, tp:(1)2}`
std::string axes_to_string(const AxisList& axes);

}  // namespace hostir
