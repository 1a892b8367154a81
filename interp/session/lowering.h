// A fusion to its host function, with the text of every phase: the compiler as sessions see it.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/passes/explain.h"
#include "interp/session/program_view.h"

namespace hostir::interp {

struct LoweredFusion {
  Program program;   // with the host function and its kernels
  std::string host;  // name of the host function
  std::vector<PhaseText> phases;
  Explanation explanation;
};

/// Errors: those of the passes.
Expected<LoweredFusion> lower_fusion(const Program& program, const std::string& fusion,
                                     const std::vector<std::string>& keep);

}  // namespace hostir::interp
