// Inserts explicit reshards, so that every op finds its operands in the sharding it needs.
//
//   1. Visit ops in order and choose the cheapest sharding of each (placement_choice.h).
//   2. If an op's reduction is cut and part of the op must run after the reduce (linear with bias,
//      reduce_mean), replace it by the simpler ops that its record gives and shard those in turn.
//   3. Use the version of each operand that the op needs, or insert a `reshard`; versions are
//      shared. Partial values are reduced the same way, at the first use that needs them whole.
//   4. Reshard an annotated value to its annotation. Other values keep the op's sharding.
//   5. Reshard the function's results to their declared sharding, or replicate them if none is
//      declared.
// Afterwards all shardings are closed and have no axes of size 1, and every op can compute its
// boxes from its operands' boxes. New instructions record in `from(...)` which fusion instruction
// they implement.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/passes/explain.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/meshes/mesh_moves.h"

namespace hostir {

/// The words by which an explanation names the annotation of a resharded value.
inline constexpr std::string_view kAnnotationUse = "its annotation";

struct Resharded {
  Function function;
  /// Built values that are made by a reshard to their annotation.
  std::vector<ValueId> annotated;
};

/// `fusion` is the output of propagate(); `moves` must have its meshes, and `homes` must be those
/// that propagate() was given. Drops instructions that
/// contribute neither to a result nor to a value in `keep`.
Expected<Resharded> insert_reshards(const Program& program, Function fusion, MeshMoves& moves,
                                    std::span<const ValueId> keep, Explanation& explanation,
                                    const AxisHomes& homes, Alternatives alternatives);

}  // namespace hostir
