// The compiler passes, in order, as a table. All code that runs, names, prints or times passes uses
// this table. A new pass needs one line here, a phase in lower.h and its own file.
#pragma once

#include <memory>
#include <span>

#include "hostir/passes/choose/reshard.h"
#include "hostir/passes/homes/home_search.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/overlap/rings.h"

namespace hostir {

/// The state that passes of one lowering share. Up to `steps`, the passes rewrite the fusion in
/// `out.program`. From `kernels` on, that program has the bound fusion again, plus the kernels and
/// the host function. The program is complete after a phase only if is_shown().
struct LowerState {
  const Program& source;
  std::string fusion;  // name
  const LowerOptions& options;
  std::vector<ValueId> keep;  // Origins of options.keep, in all passes of loops
  Lowered out;

  size_t written_values = 0;   // values of the fusion as after `unrolled`
  Function bound;              // the fusion as after `unrolled`, from `propagated` to `kernels`
  Rings rings = Rings::kNone;  // how `propagated` may compute attention
  MeshMoves* moves = nullptr;  // plans and costs on the fusion's meshes: own_moves or an option
  std::unique_ptr<MeshMoves> own_moves;
  ChosenHomes homes;    // from `propagated` to `sharded`
  Resharded resharded;  // the output of `sharded`, then of `steps`
  Program before_kernels;
  Segments segments;

  /// True if the caller inspects the program after this phase. Otherwise a pass need not copy its
  /// results into the program.
  bool is_shown(LowerPhase phase) const { return options.dump || options.until == phase; }
  /// False if the caller left out this pass or rewrite.
  bool runs(std::string_view name) const;
  Function& function() { return *out.program.find_function(fusion); }
  Function& host() { return *out.program.find_function(out.function); }
};

struct Pass {
  LowerPhase phase;  // the phase of the program after the pass
  std::string_view name;
  std::string_view summary;
  Expected<void> (*run)(LowerState& state);
  std::string_view needed;  // why the program does not run without it; empty: it can be left out
};

/// All passes, in execution order.
std::span<const Pass> all_passes();

/// A part of a pass that makes the program faster and can be left out.
struct Rewrite {
  std::string_view name;
  std::string_view pass;
  std::string_view summary;
};
std::span<const Rewrite> all_rewrites();

/// Errors: `lower_c4` no pass or rewrite has this name, or the program does not run without it.
Expected<void> check_skipped(std::span<const std::string> names);

}  // namespace hostir
