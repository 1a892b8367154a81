// Which ranks execute which instructions of a straight-line host function.
//
// A launch runs on the ranks of the mesh of the buffers that it writes, a collective on those of
// its communicator, everything else on all ranks. member_regions.h turns this into regions; until
// then the passes treat the function as if every rank ran every instruction, except where the order
// of tasks on a rank depends on it.
#pragma once

#include <map>

#include "hostir/ir/program.h"

namespace hostir {

class Members {
 public:
  Members(const Program& program, const Function& host);

  /// The ranks that execute the instruction, ascending.
  const std::vector<int64_t>& ranks(const Instruction& instruction) const {
    return sets_[set(instruction)];
  }
  const std::vector<int64_t>& all() const { return sets_.front(); }
  bool all_run_everything() const { return sets_.size() == 1; }
  /// True if every rank of set `inner` is in set `outer`.
  bool includes(uint32_t outer, uint32_t inner) const;
  /// The number of the set of ranks that execute the instruction; 0: all ranks.
  uint32_t set(const Instruction& instruction) const;
  /// By set: its classes. Ranks in the same sets are one class.
  std::vector<std::vector<uint32_t>> classes() const;

 private:
  uint32_t set_of(std::vector<int64_t> ranks);

  const Function& host_;
  std::vector<std::vector<int64_t>> sets_;   // of ranks; the first has all
  std::map<std::string, uint32_t> by_mesh_;  // mesh -> set
  std::map<uint32_t, uint32_t> by_comm_;     // communicator -> set
};

}  // namespace hostir
