// Replaces symbolic sizes with numbers.
//
// 1. infer_sizes matches parameter shapes against the extents of the inputs. A dimension that is
//    a single name binds that name. The sizes that the caller gives come second, and expressions
//    with one unknown name in which they are linear come third. All expressions are checked
//    afterwards.
// 2. bind_sizes replaces every known `?NAME` in the types and attributes of a function, and of
//    everything it launches or calls, and folds the expressions. Unknown names stay; a later pass
//    that needs one reports an error. Where parameters have a size with `size(axis)`, the mesh
//    gives it.
// Sizes are global. Mesh sizes are changed in resize_mesh.h.
#pragma once

#include <span>
#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// One input per parameter. Errors: `size_c2` a rank or extent does not match the parameter's
/// shape; `input_size` a given size contradicts the inputs, or a size that a shape needs is not
/// known.
Expected<SizeBindings> infer_sizes(const Function& function, std::span<const Extents> inputs,
                                   std::span<const std::pair<std::string, int64_t>> given = {});

/// `function` must be one of the program's. Errors: `size_c4` a size is negative or has no value;
/// `size_c5` a tensor with more than INT64_MAX / 16 elements.
Expected<Program> bind_sizes(const Program& program, std::string_view function,
                             const SizeBindings& sizes);

/// Looks up `size(axis)` of a host function's mesh.
IndexExpr::Lookup axis_sizes(const Program& program, const Function& function);

/// Sorted names of the unbound sizes in a function's types.
std::vector<std::string> unbound_sizes(const Function& function);

}  // namespace hostir
