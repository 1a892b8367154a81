// Symbolic sizes become numbers.
//
// 1. infer_sizes: parameter shapes against the extents of the inputs; a dimension that is one name
//    binds it, any other expression is checked afterwards.
// 2. bind_sizes: in one function and everything it launches or calls, every known `?NAME` in types
//    and attributes is replaced and the expression folded. Unknown names stay: later passes that
//    need one say so.
// Sizes are global. Absent here: mesh sizes (resize_mesh.h).
#pragma once

#include <span>
#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// Errors: `size_c1` another number of inputs than parameters, `size_c2` a rank or an extent that
/// contradicts the parameter's shape.
Expected<SizeBindings> infer_sizes(const Function& function, std::span<const Extents> inputs);

/// Errors: `size_c3` no function of that name, `size_c4` a size that becomes negative.
Expected<Program> bind_sizes(const Program& program, std::string_view function,
                             const SizeBindings& sizes);

/// Names of sizes that are still unbound in a function's types, sorted.
std::vector<std::string> unbound_sizes(const Function& function);

}  // namespace hostir
