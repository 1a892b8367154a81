// One exchange of borders for several shifted slices of one value.
//
// A convolution, x[1:] - x[:-1], and other stencils read slices of one padded value ("taps") that
// begin at different elements of a cut dimension. Cut one by one, each tap would need an exchange
// of its own. Instead:
//
//   1. Follow slices, pads and rolls with constant amounts to the value that they read. What they
//      make is a window of this value (shifted_view.h).
//   2. Group windows of one value that are cut along the same axes into parts of the same size c.
//      Those that move along more of the cut dimensions come first, others join them.
//   3. Split each cut dimension into parts and c elements: `[.., parts, c, ..]`. Each part gets the
//      elements of other parts that some tap needs, from slices that are shifted by whole parts,
//      or rolled if the windows wrap. Only they are communicated, once per side.
//   4. Elements that are spread apart get the fill value between them, locally.
//   5. Each tap is a slice along the uncut dimension of c elements and those beside them.
// These are ordinary ops; reshard.h shards them in place of the slices, pads and rolls. A group is
// left alone if its windows reach past what parts of c elements hold, or so far that a gather would
// move less. A roll of uneven parts becomes two slices, joined again.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostir/ops/builder.h"
#include "hostir/passes/choose/placement_key.h"
#include "hostir/passes/windows/shifted_view.h"

namespace hostir {

class HaloExchanges {
 public:
  /// `requests` is indexed by the values of `source`. Both must outlive this; values and requests
  /// may be added. The values in `keep` are computed in any case.
  HaloExchanges(const Function& source, const std::vector<RequestedSharding>& requests,
                std::span<const ValueId> keep);

  /// The value of which `value` is a window; nullopt if it is none.
  std::optional<ValueId> root_of(ValueId value) const;
  /// Groups the windows of `root`, which is held as `held` (not partial). Later calls do nothing.
  void decide(ValueId root, const Mesh& mesh, const Sharding& held);
  /// True if only taps of groups need the window.
  bool is_skipped(ValueId value) const { return skipped_[value.index]; }
  bool is_tap(ValueId value) const { return value.index < views_.size() && group_of_[value.index]; }

  using Wanted = std::map<ValueId, RequestedSharding>;  // by new value
  /// Appends the ops that make a tap, and what all taps of its group share if it is the first.
  /// Adds the shardings of the new values to `wanted`.
  ValueId build(ops::Builder& builder, ValueId tap, Wanted& wanted);

 private:
  // A dimension of a group. `from` and `to` are the elements of the root that the taps need,
  // `begin` and `end` the same counted with those between spread elements; both from the start of
  // each part, or of the root where it is not split.
  struct Along {
    int64_t parts = 0;  // 0: not split
    int64_t block = 0;  // elements of the root in a part
    int64_t from = 0;
    int64_t to = 0;
    int64_t begin = 0;
    int64_t end = 0;

    // The elements of the `nth` part from here that are needed.
    int64_t first_of(int64_t nth) const { return std::max<int64_t>(from - nth * block, 0); }
    int64_t last_of(int64_t nth) const { return std::min(to - nth * block, block); }
  };
  struct Group {
    ValueId root;
    Sharding held;
    std::vector<Along> along;  // by dimension
    std::optional<double> fill;
    std::vector<ValueId> taps;
    std::optional<size_t> joined;  // the dimension of a roll that is two slices, joined
    ValueId wide;                  // the root with all borders; made by the first tap
    Sharding wide_sharding;
  };

  bool is_cut(ValueId value, size_t d) const;
  bool moves_cut(const ShiftedView& view, ValueId root) const;
  bool moves(ValueId value, size_t d) const;
  bool joins(const Mesh& mesh, const Group& group, ValueId tap) const;
  std::vector<Group> grouped(const Mesh& mesh, ValueId root, const Sharding& held) const;
  bool has_own_exchange(const Mesh& mesh, const Group& group) const;
  std::optional<size_t> uneven_roll(const Mesh& mesh, const Sharding& held, ValueId tap) const;
  bool measure(const Mesh& mesh, Group& group) const;
  bool measure_split(const Mesh& mesh, Group& group, size_t d) const;
  void build_wide(ops::Builder& b, Group& group, Wanted& wanted) const;
  ValueId build_joined(ops::Builder& b, const Group& group, ValueId tap, Wanted& wanted) const;

  const Function& source_;
  const std::vector<RequestedSharding>& requests_;
  std::vector<std::optional<ShiftedView>> views_;  // by value
  struct Windows {
    std::vector<ValueId> values;  // in body order
    bool decided = false;
  };
  std::map<ValueId, Windows> windows_;       // by root
  std::vector<std::vector<InstrId>> users_;  // by value
  std::vector<bool> kept_;
  std::vector<bool> skipped_;
  std::vector<std::optional<size_t>> group_of_;  // by tap
  std::vector<Group> groups_;
};

}  // namespace hostir
