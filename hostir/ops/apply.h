// Kernels that a fusion applies like ops: `%y = apply @k(%a, %b)`.
//
// The kernel's size names are bound to the argument's sizes, which may be symbolic themselves. The
// kernel's rule says how the op may be cut. A rank runs the body on its parts of the operands as if
// they were whole tensors (kernels/common/bind_kernel.h).
#pragma once

#include <map>
#include <span>
#include <string>

#include "hostir/ops/common.h"

namespace hostir::ops {

/// Sizes by their names in a function.
using NamedSizes = std::map<std::string, IndexExpr>;

/// The expression with the named sizes replaced, simplified.
IndexExpr with_sizes(const IndexExpr& size, const NamedSizes& sizes);
Type with_sizes(const Type& type, const NamedSizes& sizes);
Attributes with_sizes(const Attributes& attributes, const NamedSizes& sizes);

/// Binds the sizes of a function's parameters to those of the arguments. The violation names the
/// parameter and the types on both sides; its operand is the argument's index.
Violated bind_arguments(const Function& callee, std::span<const Type> arguments, NamedSizes& sizes);

/// The name of a declared result, or of the value that is returned for it.
std::string result_name(const Function& function, size_t result);

/// Copies to `to` the kernels that a fusion applies, without the names of their gradients, unless
/// `to` has functions of these names.
void add_applied(const Program& from, const Function& fusion, Program& to);

}  // namespace hostir::ops
