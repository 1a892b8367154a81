// What the Layout panel draws of a tensor: made once per state of the run, not once per frame.
//
// While a collective reduces in place and has not finished, the addends are what is there: the
// layout from before it is shown, and `in_flight` names the instruction. Pointers are into the
// snapshot it was made from, and into `reshard`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/panels/reshard.h"
#include "gui/panels/tensor_pick.h"

namespace hostir::gui {

struct LayoutView {
  LayoutSource source;
  std::vector<Shard> shards;
  std::vector<bool> copies;  // by rank: a lower rank holds the same box, and nothing is folded
  std::string type;          // `f32 [10, 7]  [{x}, {}]  S(0)@x`
  std::optional<interp::CodeIndex> in_flight;  // a write of it that has not finished
  std::vector<interp::Rank> in_flight_on;      // the ranks on which it has not
  std::optional<Reshard> reshard;              // of that write, where its addends are shown
};

/// A collective, and who keeps it from moving anything.
struct MoveView {
  std::optional<Reshard> reshard;
  std::map<interp::Rank, std::string> absent;
};

class LayoutViews {
 public:
  /// Of a collective in the group of a rank, in the newest snapshot. No transfers among more than
  /// kMaxRibbonMembers members.
  const MoveView& move_of(const Frame& frame, interp::CodeIndex collective, interp::Rank rank);
  /// Of the tensor in the newest snapshot.
  const LayoutView& of(const Frame& frame, const TensorView& tensor);

 private:
  std::string name_;
  uint64_t generation_ = ~uint64_t{0};
  LayoutView view_;
  uint64_t move_generation_ = ~uint64_t{0};
  interp::CodeIndex collective_ = interp::kNoCode;
  interp::Rank rank_ = interp::kNoRank;
  MoveView move_;
};

}  // namespace hostir::gui
