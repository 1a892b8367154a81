// `--mesh tp=3`: a program on another number of ranks.
//
// 1. The axis' size changes; 2. sub-meshes that were taken from the mesh are resolved again; 3.
// what was written for the old size makes it an error: device ids, literal groups and permute pairs
// of functions on that mesh, sub-axes of the axis, fixed coordinates that fall outside.
#pragma once

#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// Errors: `resize_c1` no such mesh or axis, `resize_c2` a size below 1 or one that gives more
/// positions than a mesh may have, `resize_c3` text that was written for the old size.
Expected<Program> resize_mesh(const Program& program, std::string_view mesh, std::string_view axis,
                              int64_t size);

}  // namespace hostir
