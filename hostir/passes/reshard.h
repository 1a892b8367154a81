// Explicit reshards: after this pass every use of a value finds it as the op needs it.
//
//   1. Ops in order; for each, the cut that costs least (placement_choice.h).
//   2. An op whose cut reduction must be finished once, outside (linear with bias, reduce_mean), is
//      replaced by the simpler ops that its record gives, and those are cut in turn.
//   3. Operands are taken in the version that the op needs, or a `reshard` is inserted; versions
//   are
//      shared. Partial values are reduced so, too, at the first use that needs them whole.
//   4. An annotated value is resharded to its annotation; others stay as the op left them.
//   5. Results of the function become what is declared, or replicated where nothing is.
// Afterwards all shardings are closed, have no axes of size 1, and every op can be computed from
// its operands' boxes alone. New instructions say by `from(...)` which instruction of the fusion
// they serve.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hostir/passes/explain.h"
#include "hostir/passes/redistribute.h"

namespace hostir {

struct Resharded {
  Function function;
  /// Built value -> value of the fusion whose (possibly partial) content it holds.
  std::vector<std::pair<std::string, std::string>> origins;
};

/// `fusion` as propagate() left it; `moves` on its mesh. Instructions that lead to no result and to
/// none of the values `keep` are left out.
Expected<Resharded> insert_reshards(const Program& program, const Function& fusion,
                                    Redistributor& moves, std::span<const std::string> keep,
                                    Explanation& explanation);

}  // namespace hostir
