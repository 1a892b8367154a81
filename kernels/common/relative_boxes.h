// The part of a rank's boxes that a kernel's code depends on: their extents and their positions
// relative to each other, but not which part of the global values they cover.
//
// Ranks that differ only in their coordinates have the same description, and so share a plan. A
// kernel for which position matters (random numbers, iota, slices, packed buffers) has none.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

class RelativeBoxes {
 public:
  /// Created from a kernel bound for one rank, for all launches with operands of the same global
  /// shapes. nullopt if the position matters. Errors: those of the ops' rules.
  static Expected<std::optional<RelativeBoxes>> of(const Program& program,
                                                   const BoundKernel& bound);

  /// The description of one rank's launch; nullopt if an operand has another global shape or is
  /// packed.
  std::optional<std::vector<int64_t>> describe(const Program& program, int32_t rank,
                                               std::span<const Placement* const> parameters,
                                               std::span<const Placement* const> results) const;

 private:
  std::shared_ptr<const Function> kernel_;
  std::vector<uint32_t> operands_;        // values: parameters, then results
  std::vector<Extents> globals_;          // by value
  std::vector<std::vector<int>> groups_;  // by value and dimension, see dims_cut_together()
  int group_count_ = 0;
};

}  // namespace hostir::kernels
