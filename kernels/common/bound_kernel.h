// A kernel function with every value placed for one rank: the input of each device's compiler.
#pragma once

#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"

namespace hostir::kernels {

/// Created by `bind_kernel()`. Does not own the function.
struct BoundKernel {
  const Function* function = nullptr;  // kind kKernel; outlives all users of the bound kernel
  std::vector<Placement> values;       // by ValueId
  SizeBindings sizes;                  // of symbolic sizes in attributes, if any
  /// By ValueId, may be shorter: results that a `reshard` made partial and that hold the identity
  /// of the reduction on this rank, because another rank holds the elements.
  std::vector<bool> identity_only;
  bool holds_identity(ValueId value) const {
    return value.index < identity_only.size() && identity_only[value.index];
  }
};

/// The compute instructions of a kernel's body in order, without the closing `return`.
/// Errors: `kernel_invalid` for a body that is not a list of compute ops closed by `return`, or
/// whose values are not all placed.
Expected<std::vector<const Instruction*>> kernel_body(const BoundKernel& kernel);
/// The operands of the closing `return`.
const std::vector<Operand>& returned_values(const Function& function);

}  // namespace hostir::kernels
