// How the results of a partitioned module lie on the mesh.
//
// HLO says how parameters are cut, and of results often nothing. The guess follows the axes of each
// dimension through the operations: pointwise, broadcast, transpose and reshape move them, a dot
// drops the contracted ones, all-gather takes axes away, reduce-scatter and a slice at a place that
// depends on the device add them.
#pragma once

#include "hostir/import/hlo_module.h"

namespace hostir::importer {

/// Per result of the entry function; `params` are the parameters' shardings, in order.
std::vector<Sharding> guess_layouts(const Module& module, const ModuleFunction& entry,
                                    const std::vector<Sharding>& params, const Mesh& mesh);

}  // namespace hostir::importer
