// Where the tensors of a moment are, by name: looked for once per snapshot, not once per frame.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

/// One value on all ranks, as the snapshot has it: the current allocation of that name on each
/// rank.
struct TensorView {
  std::string name;
  std::vector<const interp::AllocationSnapshot*> by_rank;  // null where a rank does not hold it
  const interp::AllocationSnapshot* first = nullptr;       // of the lowest rank that has it

  bool valid() const { return first != nullptr; }
};

/// Compares names over all ranks and allocations.
TensorView find_tensor(const interp::Snapshot& shot, const std::string& name);

/// What was found in the newest snapshot that it was asked about, which it keeps alive. One thread.
class TensorIndex {
 public:
  /// Valid until it is asked about another snapshot.
  const TensorView& find(const interp::SnapshotPtr& shot, const std::string& name);
  int64_t searches() const { return searches_; }  // over all ranks, so far

 private:
  interp::SnapshotPtr of_;
  std::map<std::string, TensorView> known_;
  int64_t searches_ = 0;
};

}  // namespace hostir::gui
