// Plans a kernel function as steps of the fast set.
//
// 1. Ops that only move elements become strided views of memory, if strides can express them.
// 2. Pointwise ops on one box join the open group of that box. A reduction of one of the group's
//    values becomes a fold of the group. A matrix product opens its own group, which is its
//    epilogue.
// 3. A group is closed, and its steps emitted, when one of its values is needed in memory: by a
//    view, by a product, or by an op on another box. Values that nothing outside the group reads
//    are never stored.
// 4. Ops without a fast form run through their reference kernels.
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
