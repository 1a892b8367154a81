// The contents of the Layout panel for a tensor, computed once per state of the run, not once per
// frame.
//
// While a collective reduces in place and has not finished, the buffers still hold the addends. The
// layout from before the collective is shown, and `in_flight` names the instruction. Pointers point
// into the snapshot and into `reshard`. A tensor that is freed or not allocated yet has the layout
// that the program declares.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/panels/layout/reshard.h"
#include "gui/panels/values/tensor_pick.h"

namespace hostir::gui {

struct LayoutView {
  bool held = true;  // false: no rank holds it here
  LayoutSource source;
  std::vector<Shard> shards;
  // By rank: same box as a lower rank, not partial, and the same contents as far as compared.
  std::vector<bool> copies;
  std::vector<std::vector<bool>> differs;      // by shard: elements on which its holders differ
  std::string type;                            // `f32 [10, 7]  [{x}, {}]  S(0)@x`
  std::optional<interp::CodeIndex> in_flight;  // an unfinished write to the tensor
  std::vector<interp::Rank> in_flight_on;      // the ranks on which it is unfinished
  std::optional<Reshard> reshard;              // of that write, if its addends are shown
};

/// A collective, and which members keep it from moving data.
struct MoveView {
  std::optional<Reshard> reshard;
  std::map<interp::Rank, std::string> absent;
};

class LayoutViews {
 public:
  /// The collective, in the group of `rank`, in the newest snapshot. Groups with more than
  /// kMaxRibbonMembers members get no transfers.
  const MoveView& move_of(const Frame& frame, interp::CodeIndex collective, interp::Rank rank);
  /// The tensor in the newest snapshot. `type` is empty if no rank holds it and the program does
  /// not decide its layout.
  const LayoutView& of(const Frame& frame, const TensorView& tensor);

 private:
  std::string name_;
  uint64_t generation_ = ~uint64_t{0};
  LayoutView view_;
  bool compared_ = false;  // the copies of `view_`
  uint64_t move_generation_ = ~uint64_t{0};
  interp::CodeIndex collective_ = interp::kNoCode;
  interp::Rank rank_ = interp::kNoRank;
  MoveView move_;
};

}  // namespace hostir::gui
