// From a kernel function to the steps of the fast set.
//
// 1. Ops that only move elements become strided views of memory, where strides can say it.
// 2. Pointwise ops on one box join the open group of that box; a reduction of a value of the group
//    becomes a fold of the group; a matrix product opens a group of its own, its epilogue.
// 3. A group is closed, and its steps emitted, when one of its values is needed in memory: by a
// view,
//    by a product, by an op on another box. What nothing outside the group reads is never stored.
// 4. Whatever has no fast form runs through its reference kernel.
#pragma once

#include "kernels/cpu/step.h"

namespace hostir::cpu {

struct Plan {
  std::vector<std::unique_ptr<Step>> steps;
  /// By ValueId: the steps [first, last) that access its memory; -1 if it needs none.
  std::vector<int> first_step;
  std::vector<int> last_step;
  bool is_single_group = false;  // one tile program: an output may share memory with an input
};

Expected<Plan> plan_fast(const BoundKernel& kernel);

}  // namespace hostir::cpu
