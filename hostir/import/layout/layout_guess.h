// Guesses the shardings of a partitioned module's results.
//
// HLO has the shardings of parameters, but often not those of results. The guess follows the axes
// of each dimension through the operations: pointwise operations, broadcast, transpose and reshape
// move them; a dot drops the contracted ones; all-gather removes axes; reduce-scatter and a slice
// at a device-dependent position add axes.
#pragma once

#include "hostir/import/hlo/hlo_module.h"
#include "hostir/import/import_options.h"

namespace hostir::importer {

struct GuessedLayout {
  Sharding sharding;
  // Describes a dimension in which each device holds several blocks with gaps between them, which
  // no sharding can express. Empty if there is none.
  std::string gaps;
};

/// The layout of each result of the entry function. `params` has the parameters' shardings. If a
/// guess does not give the known shape of a result, the shardings that do are considered.
std::vector<GuessedLayout> guess_layouts(const Module& module, const ModuleFunction& entry,
                                         const std::vector<Sharding>& params, const Mesh& mesh,
                                         const ResultShapes& shapes);

}  // namespace hostir::importer
