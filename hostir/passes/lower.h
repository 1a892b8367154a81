// The compiler: lowers a fusion to a host function.
//
// Runs the passes of pass_list.h in order and exposes the program after each phase:
//   bound       sizes are numbers, a mesh of all ranks (bind_sizes.h)
//   unrolled    loops written out pass by pass (unroll_loops.h in hostir/ops)
//   propagated  moves between meshes are reshards (mesh_borders.h), composites expanded
//               (expand_composites.h), a sharding on every value (propagate.h)
//   sharded     explicit reshards (reshard.h)
//   steps       each reshard is one kernel or one collective (split_reshards.h)
//   kernels     compute groups (segment.h)
//   host        buffers, launches, collectives on one stream (lower_host.h)
//   overlapped  collectives in chunks, next to the kernels that feed or use them (overlap.h)
//   combined    independent collectives in one call (combine.h)
//   streams     collectives on their own stream, waits (assign_streams.h)
//   lifetimes   frees and reuse of storage (lifetimes.h), launches and collectives only on the
//               ranks of their mesh (member_regions.h)
// Up to `steps`, the passes rewrite the fusion itself. From `kernels` on, the program has the
// fusion as after `unrolled` and the kernels; from `host` on, also the host function `@f.host`. The
// program after each phase prints, parses back and verifies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/machine.h"
#include "hostir/ops/unroll_loops.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/host/lower_host.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/overlap/overlap.h"
#include "hostir/passes/prepare/value_names.h"

namespace hostir {

enum class LowerPhase : uint8_t {
  kBound,
  kUnrolled,
  kPropagated,
  kSharded,
  kSteps,
  kKernels,
  kHost,
  kOverlapped,
  kCombined,
  kStreams,
  kLifetimes,
};
std::string_view name(LowerPhase phase);

struct LowerOptions {
  /// Values of symbolic sizes; unset: bind_sizes() has bound them already.
  std::optional<SizeBindings> sizes = SizeBindings();
  std::vector<std::string> keep;     // values in the fusion that must get a buffer
  const Machine* machine = nullptr;  // cost model; null: default_machine()
  /// Keeps the plans of reshards and how ops are cut for later lowerings of the same program with
  /// other shardings or fewer layers, on the same meshes and machine, which are then faster. Empty
  /// at first; may be null. The machine must outlive it.
  std::unique_ptr<MeshMoves>* moves = nullptr;
  /// The homes of axes (axis_homes.h), used instead of a search for the cheapest; may be null.
  const NamedHomes* homes = nullptr;
  Alternatives alternatives = Alternatives::kOmitted;  // in `Lowered::explanation`
  Overlap overlap = Overlap::kNone;  // how collectives are overlapped with kernels
  LowerPhase until = LowerPhase::kLifetimes;
  std::vector<std::string> skip;  // names of passes and rewrites to leave out (pass_list.h)
  /// Called after every phase, in order.
  std::function<void(LowerPhase, const Program&)> dump;
  std::stop_token stop;  // a stop request ends the lowering after the current phase
  /// Sees the fusion after `propagated`; if it returns false, the lowering ends there. May be
  /// empty.
  std::function<bool(const Function& propagated)> goes_on;
};

struct Lowered {
  Program program;       // after the last phase
  std::string function;  // the function to run or print: `mlp.host`, or `mlp` before `host`
  std::string mesh;      // the world mesh; `one` if there is none in the program
  Function sharded;      // the fusion with explicit reshards, for expect_sharding and the GUI
  NamedHomes homes;      // of axes
  Explanation explanation;
  ValueNames value_names;              // by Origin; empty before `unrolled`
  bool has_rings = false;              // attention is computed in a ring (rings.h)
  std::vector<LoopValue> loop_values;  // what `unrolled` named the values of loops
  std::vector<int64_t> pass_ns;        // the time each pass took
};

/// `fusion` must be one of the program's. Errors: `lower_c3` a value in `keep` does not exist;
/// `lower_c4` a pass in `skip` cannot be left out; errors of the passes.
Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options = {});

}  // namespace hostir
