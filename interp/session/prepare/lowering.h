// Lowers a fusion to its host function and gives the texts of the phases: the compiler as sessions
// see it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/passes/lower.h"
#include "interp/session/prepare/prepare_progress.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::interp {

struct LoweredFusion {
  Program program;   // with the host function and its kernels
  std::string host;  // name of the host function
  Explanation explanation;
  ValueNames value_names;  // by Origin
  std::vector<LoopValue> loop_values;
};

struct LoweringRequest {
  std::vector<std::string> keep;  // values of the fusion to keep in buffers
  Overlap overlap = Overlap::kNone;
  std::optional<Machine> machine;  // its costs decide; unset: the program's first machine
  Alternatives alternatives = Alternatives::kOmitted;  // in the explanation
};

/// Sizes must be bound (bind_sizes). Errors: those of the passes; `cancelled` soon after the watch
/// requests it.
Expected<LoweredFusion> lower_fusion(const Program& program, const std::string& fusion,
                                     const LoweringRequest& request,
                                     const PrepareProgress& watch = {});

/// The texts of the phases of lower_fusion(). The first request lowers the fusion again and prints
/// them all.
PhaseTexts phases_of(std::shared_ptr<const Program> program, const std::string& fusion,
                     const LoweringRequest& request);

/// The fusion with the sharding of every value decided and communication as explicit reshards.
Expected<Function> sharded_fusion(const Program& program, const std::string& fusion);

}  // namespace hostir::interp
