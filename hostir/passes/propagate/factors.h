// Conversion between axes per dimension (a sharding) and axes per factor of a sharding rule.
//
// A dimension with one factor gives all its axes to that factor. A compound dimension (`[ij]`, in
// reshape) distributes them major to minor: a factor takes axes while they divide its size, and the
// last one with axes may be cut unevenly. If factors after it are whole, the merged dimension is
// cut between runs of their elements (DimSharding::unit): 8 heads of 16 columns on 3 ranks are 3, 3
// and 2 heads, and 48, 48 and 32 of the 128 columns. The inverse keeps only axes that cut the
// merged dimension at the same places (see hostir/ir/sharding.h). A choice of axes is therefore
// valid for a tensor if project(assemble(x)) == x; legalized() shortens a choice until it is valid
// for every tensor of the op. The choice itself is made elsewhere (propagate, reshard).
#pragma once

#include <vector>

#include "hostir/ir/axes.h"
#include "hostir/ops/record.h"

namespace hostir {

/// How a factor is cut: over axes, into whole runs of `unit` elements. The unit is 1 without axes,
/// and where all parts have equally many elements anyway.
struct FactorCut {
  AxisList axes;
  int64_t unit = 1;

  bool empty() const { return axes.empty(); }
  friend bool operator==(const FactorCut&, const FactorCut&) = default;
};
using FactorCuts = std::vector<FactorCut>;  // by factor

/// The cut of a factor of size `size` (-1: unknown), with unit 1 if that makes no difference.
FactorCut cut_over(const Mesh& mesh, AxisList axes, int64_t unit, int64_t size);

/// True if `cut` begins with the axes of `prefix`, which cut at the same places.
bool is_prefix(const Mesh& mesh, const FactorCut& prefix, const FactorCut& cut, int64_t size);
/// The longest cut that both begin with.
FactorCut common_prefix(const Mesh& mesh, const FactorCut& a, const FactorCut& b, int64_t size);
/// The cut up to the first axis in `used`.
FactorCut prefix_avoiding(const Mesh& mesh, const FactorCut& cut, const AxisList& used,
                          int64_t size);

/// The size of a factor, or -1 if it is unknown. A factor of unknown size is never split inside a
/// dimension.
int64_t known_size(const ShardingRule& rule, int factor);

/// Whether a factor may be given axes that cut the dimension at other places. A preference may:
/// cuts between heads are better than cuts between columns.
enum class Borders : uint8_t { kExact, kNearby };

/// The axes that a tensor's dimensions give to each factor. Axes that fit no factor are dropped.
FactorCuts project(const Mesh& mesh, const ShardingRule& rule,
                   const std::vector<ShardingRule::DimFactors>& tensor,
                   const std::vector<DimSharding>& dims, Borders borders = Borders::kExact);

/// The dimension shardings, all closed, that result from the factors' axes.
std::vector<DimSharding> assemble(const Mesh& mesh, const ShardingRule& rule,
                                  const std::vector<ShardingRule::DimFactors>& tensor,
                                  const FactorCuts& cuts);

/// The longest prefix of each factor's axes with which every rank can compute its result boxes from
/// its operand boxes. Factors that must be replicated get no axes, no axis serves two factors (the
/// earlier one keeps it), and every tensor can express the axes.
FactorCuts legalized(const Mesh& mesh, const ShardingRule& rule, FactorCuts cuts);

/// The axes of all factors.
AxisList axes_of(const FactorCuts& cuts);
/// The axes of the reduction factors that the result lacks; it is partial over them.
AxisList reduced_axes(const Mesh& mesh, const ShardingRule& rule, const FactorCuts& cuts,
                      size_t result);

/// True if one of the tensor's dimensions has this factor.
bool has_factor(const std::vector<ShardingRule::DimFactors>& tensor, int factor);
/// True if one of the tensor's dimensions has this factor and others.
bool is_merged(const std::vector<ShardingRule::DimFactors>& tensor, int factor);

}  // namespace hostir
