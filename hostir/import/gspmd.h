// Modules from before Shardy: shardings as tile assignments, on parameters, results and `@Sharding`
// calls.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Gives a module without meshes the mesh that its tile assignments need, and says them on it:
/// `@Sharding` calls become sdy.sharding_constraint. Errors: `import_c8` where no mesh has them
/// all.
Expected<void> name_tile_shardings(Module& module);

}  // namespace hostir::importer
