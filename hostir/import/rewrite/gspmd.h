// Support for modules from before Shardy, which have tile assignments on parameters, results and
// `@Sharding` calls.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Adds the mesh that the tile assignments of a module without meshes need, and converts the
/// assignments to shardings on it. `@Sharding` calls become sdy.sharding_constraint. Errors:
/// `import_c8` if no single mesh fits all assignments.
Expected<void> name_tile_shardings(Module& module);

/// Turns the bodies of shard_map, which compute on values with sharding constraints, into manual
/// computations.
void name_manual_computations(const Mesh& mesh, ModuleFunction& function);

}  // namespace hostir::importer
