// A kernel function with every value placed for one rank: the input of each device's compiler.
#pragma once

#include <memory>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"

namespace hostir::kernels {

/// Created by `bind_kernel()`. Owns the function only if attributes had sizes to replace; otherwise
/// it is the program's, which outlives all users of the bound kernel.
struct BoundKernel {
  std::shared_ptr<const Function> function;  // kind kKernel; its attributes have no sizes
  std::vector<Placement> values;             // by ValueId
  /// By ValueId, may be shorter: results that a `reshard` made partial and that hold the identity
  /// of the reduction on this rank, because another rank holds the elements.
  std::vector<bool> identity_only;
  bool holds_identity(ValueId value) const {
    return value.index < identity_only.size() && identity_only[value.index];
  }
};

/// A non-owning pointer to a function.
inline std::shared_ptr<const Function> borrowed(const Function& function) {
  return {std::shared_ptr<const Function>(), &function};
}

/// The compute instructions of a kernel's body in order, without the closing `return`.
/// Errors: `kernel_invalid` for a body that is not a list of compute ops closed by `return`, or
/// whose values are not all placed.
Expected<std::vector<const Instruction*>> kernel_body(const BoundKernel& kernel);
/// The operands of the closing `return`.
const std::vector<Operand>& returned_values(const Function& function);

}  // namespace hostir::kernels
