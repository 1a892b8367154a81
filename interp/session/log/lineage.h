// Determines which decisions belong to a history.
//
// A branch leaves its parent at a decision; its parent's later decisions were undone. A history is
// a branch with its ancestors, each up to the point where it was left.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

namespace hostir::interp {

class Lineage {
 public:
  struct Opening {
    uint32_t parent = 0;
    uint64_t at = 0;  // the parent's first decision that was undone
  };

  /// No branch was ever opened: everything belongs to the history.
  Lineage() = default;
  /// The history of `branch` before its decision `end`. `openings` is by branch; unknown parents
  /// and cycles end the ancestry.
  Lineage(const std::map<uint32_t, Opening>& openings, uint32_t branch,
          uint64_t end = std::numeric_limits<uint64_t>::max());

  bool contains(uint32_t branch, uint64_t decision) const {
    if (is_single()) return true;
    const auto end = ends_.find(branch);
    return end != ends_.end() && decision < end->second;
  }
  bool is_single() const { return ends_.empty(); }
  friend bool operator==(const Lineage&, const Lineage&) = default;

 private:
  std::map<uint32_t, uint64_t> ends_;  // by branch: its first decision that was undone
};

}  // namespace hostir::interp
