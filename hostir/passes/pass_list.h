// The passes of the compiler in order, as data: whoever runs, names, prints or times them walks
// this list. A new pass is one line of it, one phase in lower.h and a file of its own.
#pragma once

#include <memory>
#include <span>

#include "hostir/passes/lower.h"
#include "hostir/passes/redistribute.h"
#include "hostir/passes/reshard.h"

namespace hostir {

/// What one lowering knows, from pass to pass. Until `steps` the fusion in `out.program` is
/// rewritten; from `kernels` on it is the bound one again, with kernels and host function beside
/// it.
struct LowerState {
  const Program& source;
  std::string fusion;  // name
  const LowerOptions& options;
  Lowered out;

  Function bound;                        // the fusion with sizes and one mesh
  std::optional<Mesh> mesh;              // outlives `moves`
  std::unique_ptr<Redistributor> moves;  // plans and costs on that mesh
  Resharded resharded;                   // after `sharded`, and in single steps after `steps`
  Program before_kernels;
  Segments segments;

  Function& function() { return *out.program.find_function(fusion); }
  Function& host() { return *out.program.find_function(out.function); }
};

struct Pass {
  LowerPhase phase;  // what the program is in afterwards
  std::string_view name;
  std::string_view summary;
  Expected<void> (*run)(LowerState& state);
};

/// All passes in the order in which they run.
std::span<const Pass> all_passes();

}  // namespace hostir
