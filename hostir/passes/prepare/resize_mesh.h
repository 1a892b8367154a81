// `--mesh tp=3`: changes the size of a mesh axis.
//
// 1. Set the size of the axis. 2. Resolve the mesh's sub-meshes again. 3. Report an error for
// anything that depends on the old size: device ids, literal groups and permute pairs in functions
// on that mesh, sub-axes of the axis, and fixed coordinates out of range.
#pragma once

#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// Errors: `resize_c1` there is no such mesh or axis; `resize_c2` the size is below 1 or gives more
/// positions than a mesh may have; `resize_c3` the program depends on the old size.
Expected<Program> resize_mesh(const Program& program, std::string_view mesh, std::string_view axis,
                              int64_t size);

}  // namespace hostir
