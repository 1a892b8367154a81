// Support for modules of several replicas, as JAX's pmap writes them.
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// Turns a module of several replicas into one manual computation over a mesh with the axis
/// `replica`. The parts of the replicas lie one after the other along the first dimension; a
/// parameter with `mhlo.is_same_data_across_replicas` is whole on each. Errors: `import_c8` if the
/// module has several partitions too.
Expected<void> write_out_replicas(Module& module, std::string_view entry);

}  // namespace hostir::importer
