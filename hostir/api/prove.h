// Proves that a host function computes a fusion, or a fusion's sharded form the unsharded one,
// without values: `hostir verify --against`.
//
// Both programs run in shapes only, while a prover follows what each element stands for
// (interp/sim/proof). Equal outputs are proven for all inputs of these sizes, up to rounding and
// the order of sums.
#pragma once

#include <string>
#include <vector>

#include "hostir/api/program_options.h"

namespace hostir::api {

struct Proof {
  enum class Verdict : uint8_t {
    kProven,
    kDiffers,   // another number of times, another element, a partial sum; confirmed by a run on
                // example inputs unless these are large
    kUnproven,  // computed in another way, or in one that the prover does not follow
  };
  Verdict verdict = Verdict::kProven;
  std::vector<Diagnostic> findings;  // one for each output that is not proven
  size_t outputs = 0;
  int64_t ranks = 0;
};

/// Parameters and results correspond by position. `against`: a fusion, without '@'.
/// Errors: those of preparing and running either program, deadlocks included; `against` if the
/// numbers of parameters or results, or their shapes, differ.
Expected<Proof> prove(const LoadedFile& file, ProgramOptions program, const std::string& against);

}  // namespace hostir::api
