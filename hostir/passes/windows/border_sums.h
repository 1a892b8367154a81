// One exchange of borders for a sum of values that are padded or cut off differently.
//
// Such sums are the gradients of shifted slices: each addend has its own place in the sum, and cut
// one by one, each would need an exchange of its own. Instead:
//
//   1. Follow adds, and slices, pads and rolls with constant amounts, from a sum to the addends.
//      Each is a window of another value (shifted_view.h), with zeros outside.
//   2. Split each cut dimension into parts, `[.., parts, c, ..]`. The addends of a part are padded
//      to what all of them reach, and summed: locally.
//   3. What reaches over the borders of a part is sent to the parts beside it, once per side, and
//      added there. If the addends are rolled, the last part is beside the first.
// It is halo_exchange.h backwards. A plain sum of windows of one value is left to that.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostir/ops/builder.h"
#include "hostir/passes/choose/placement_key.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/windows/shifted_view.h"

namespace hostir {

class BorderSums {
 public:
  /// `requests` is indexed by the values of `source`. All must outlive this; values and requests
  /// may be added. The values in `keep` are computed in any case.
  BorderSums(const Function& source, const std::vector<RequestedSharding>& requests,
             const MeshMoves& moves, std::span<const ValueId> keep);

  /// True if only a sum needs the value.
  bool is_skipped(ValueId value) const {
    return value.index < skipped_.size() && skipped_[value.index];
  }
  bool is_sum(ValueId value) const { return sums_.contains(value); }

  using Wanted = std::map<ValueId, RequestedSharding>;  // by new value
  /// Appends the ops that make a sum. Adds the shardings of the new values to `wanted`.
  ValueId build(ops::Builder& builder, ValueId sum, Wanted& wanted) const;

 private:
  // A dimension along which addends lie at different places. `begin` and `end` are what they reach,
  // from the start of each part, or of the sum where it is not split.
  struct Along {
    bool moves = false;
    bool wraps = false;
    int64_t parts = 0;  // 0: not split
    int64_t block = 0;  // elements of the sum in a part
    int64_t begin = 0;
    int64_t end = 0;
  };
  struct Sum {
    std::vector<ShiftedView> addends;
    std::vector<ValueId> inner;  // the values between them and the sum
    Sharding sharding;
    std::vector<Along> along;  // by dimension
  };

  void collect(ValueId value, const ShiftedView& window, Sum& sum) const;
  bool can_share(ValueId value, Sum& sum) const;
  bool choose_axes(ValueId value, Sum& sum) const;
  bool measure(ValueId value, Sum& sum, size_t d) const;
  ValueId build_local(ops::Builder& b, const Sum& sum, const Sharding& split, Wanted& wanted) const;

  const Function& source_;
  const std::vector<RequestedSharding>& requests_;
  const MeshMoves& moves_;
  std::vector<size_t> uses_;  // by value; more than can be if it is kept
  std::vector<bool> skipped_;
  std::map<ValueId, Sum> sums_;
};

}  // namespace hostir
