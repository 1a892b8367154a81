// The compiler: a fusion becomes a host function.
//
// Runs the passes of pass_list.h in order and hands out the program after each one:
//   bound       sizes and one mesh (bind_sizes.h)
//   propagated  composites expanded (expand_composites.h), a sharding on every value (propagate.h)
//   sharded     explicit reshards (reshard.h)
//   steps       each reshard one kernel or one collective (split_reshards.h)
//   kernels     compute groups (segment.h)
//   host        buffers, launches, collectives on one stream (lower_host.h)
//   streams     collectives on their own stream, waits (assign_streams.h)
//   lifetimes   frees and reuse (lifetimes.h); the last
// Until `steps` the fusion itself is rewritten; from `kernels` on the program holds the bound
// fusion, the kernels and, from `host` on, the host function `@f.host`. Each program prints, parses
// back and verifies.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/machine.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/lower_host.h"

namespace hostir {

enum class LowerPhase : uint8_t {
  kBound,
  kPropagated,
  kSharded,
  kSteps,
  kKernels,
  kHost,
  kStreams,
  kLifetimes,
};
std::string_view name(LowerPhase phase);

struct LowerOptions {
  SizeBindings sizes;
  std::vector<std::string> keep;     // values of the fusion that must get a buffer
  const Machine* machine = nullptr;  // whose costs decide; default_machine() where there is none
  LowerPhase until = LowerPhase::kLifetimes;
  /// Called after every phase, in order.
  std::function<void(LowerPhase, const Program&)> dump;
  std::stop_token stop;  // asked to stop, it returns after the phase that runs, as with `until`
};

struct Lowered {
  Program program;       // after the last phase
  std::string function;  // what to run or print: `mlp.host`, or `mlp` before `host`
  std::string mesh;      // the world mesh; `one` is added where the fusion names none
  Function sharded;      // the fusion with explicit reshards, for expect_sharding and the GUI
  Explanation explanation;
  std::vector<Provenance> provenance;  // empty before `host`
  std::vector<int64_t> pass_ns;        // how long each pass took, in their order
};

/// Errors: `lower_c2` no fusion of that name, `lower_c3` a value to keep that does not exist, and
/// those of the passes.
Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options = {});

}  // namespace hostir
