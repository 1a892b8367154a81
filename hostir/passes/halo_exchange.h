// One exchange of borders for several shifted slices of one value.
//
// A convolution, x[1:] - x[:-1], and other stencils read slices of one padded value ("taps") that
// begin at different elements of a cut dimension. Cut one by one, each tap would need an exchange
// of its own. Instead:
//
//   1. Follow slices and pads with constant amounts to the value that they read. What they make is
//      a window of this value, which has the pads' value outside.
//   2. Group windows of one value that are cut along the same axes into parts of the same size c.
//   3. Split each cut dimension into parts and c elements: `[.., parts, c, ..]`. Each part gets the
//      elements before and after it that some tap needs, from slices of the other parts that are
//      shifted by whole parts. Only they are communicated, once per side.
//   4. Each tap is a slice along the uncut dimension of c elements and those beside them.
// These are ordinary ops; reshard.h shards them in place of the slices and pads. A group is left
// alone if its windows reach past what parts of c elements hold, or so far that a gather would move
// less.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostir/ops/builder.h"
#include "hostir/passes/placement_key.h"

namespace hostir {

class HaloExchanges {
 public:
  /// `requests` is indexed by the values of `source`. Both must outlive this; values and requests
  /// may be added. The values in `keep` are computed in any case.
  HaloExchanges(const Function& source, const std::vector<RequestedSharding>& requests,
                std::span<const std::string> keep);

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
  // A window of a value: element i is element offset + stride * i of the root, or `fill` outside.
  struct View {
    ValueId root;
    std::vector<int64_t> offset;  // by dimension
    std::vector<int64_t> stride;
    std::vector<int64_t> size;
    std::optional<double> fill;
    int length = 0;  // number of slices and pads

    // The number of elements of the root from the first to the last of `count` ones.
    int64_t span(size_t d, int64_t count) const { return stride[d] * (count - 1) + 1; }
    int64_t end(size_t d) const { return offset[d] + span(d, size[d]); }
  };
  struct Side {
    int64_t low = 0;  // how many elements the taps need before and after each part
    int64_t high = 0;
  };
  struct Group {
    ValueId root;
    Sharding held;
    std::vector<int64_t> parts;  // by dimension; 0: not split
    std::vector<int64_t> block;  // elements of the root in a part
    std::vector<Side> sides;     // where not split: how far windows reach outside
    std::optional<double> fill;
    std::vector<ValueId> taps;
    ValueId wide;  // the root with all borders; made by the first tap
    Sharding wide_sharding;
  };

  std::optional<View> view_of(const Instruction& i) const;
  bool is_cut(ValueId value, size_t d) const;
  bool joins(const Mesh& mesh, const Group& group, ValueId tap) const;
  bool measure(const Mesh& mesh, Group& group) const;
  bool measure_split(const Mesh& mesh, Group& group, size_t d) const;
  void build_wide(ops::Builder& b, Group& group, Wanted& wanted) const;

  const Function& source_;
  const std::vector<RequestedSharding>& requests_;
  std::vector<std::optional<View>> views_;  // by value
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
