// Finds tensors by name in a snapshot: once per snapshot, not once per frame.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

/// One value on all ranks of a snapshot: on each rank, the current allocation with that name.
struct TensorView {
  std::string name;
  std::vector<const interp::AllocationSnapshot*> by_rank;  // null if a rank does not hold it
  const interp::AllocationSnapshot* first = nullptr;       // on the lowest rank that holds it

  bool valid() const { return first != nullptr; }
};

/// Searches all allocations of all ranks.
TensorView find_tensor(const interp::Snapshot& shot, const std::string& name);

/// Caches the results for the newest snapshot it was asked about, and keeps that snapshot alive.
/// Single-threaded.
class TensorIndex {
 public:
  /// Valid until `find` is called with another snapshot.
  const TensorView& find(const interp::SnapshotPtr& shot, const std::string& name);
  int64_t searches() const { return searches_; }  // number of full searches so far

 private:
  interp::SnapshotPtr of_;
  std::map<std::string, TensorView> known_;
  int64_t searches_ = 0;
};

}  // namespace hostir::gui
