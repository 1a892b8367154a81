// Proves that a host function computes a fusion, or a fusion's sharded form the unsharded one,
// without values: `hostir verify --against`.
//
// Both programs run without data, while a prover tracks what each element stands for
// (interp/sim/proof). Equal outputs are proven for all inputs of these sizes, up to rounding and
// the order of sums.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hostir/api/open/program_options.h"

namespace hostir::api {

struct Proof {
  enum class Verdict : uint8_t {
    kProven,
    kDiffers,   // a wrong factor or element, a partial sum, never written, or not proven and
                // different outputs on example inputs
    kUnproven,  // computed in another way, or in one that the prover cannot follow, but equal on
                // example inputs
  };
  Verdict verdict = Verdict::kProven;
  std::vector<Diagnostic> findings;  // one for each output that is not proven
  std::set<std::string> rules;       // kernels whose own sharding rules are assumed to be correct
  size_t outputs = 0;
  int64_t ranks = 0;
};

/// Parameters and results correspond by position. `against`: a fusion, without '@'. An output that
/// is not proven, or proven only by a kernel's own rule, is checked on example inputs
/// (example_runs.h) unless these are large. Errors have positions in the file: those of preparing
/// and running either program, deadlocks included; `against` if the numbers of parameters or
/// results, or their shapes, differ.
Expected<Proof> prove(const LoadedFile& file, ProgramOptions program, const std::string& against);

}  // namespace hostir::api
