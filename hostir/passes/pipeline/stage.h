// One stage of a pipeline as host functions: forward, and backward whole or in two parts.
//
//   1. Differentiate the stage's fusion for its activations and weights.
//   2. Propagate shardings through the gradient, on the stage's sub-mesh. So all parts agree on
//      the layout of a value that they share.
//   3. Cut the gradient by the values that results need. The forward part makes the stage's
//      results. The backward part makes the activations' gradients, and the weights' gradients
//      unless those are a separate part. Constants are made again wherever they are used. A value
//      that a later part uses is a result of the part that makes it: the activations that are kept.
//   4. A weight's gradient that would only be reduced before it is returned is returned as partial
//      sums. The pipeline adds them up and reduces them once, after the last micro-batch. A
//      gradient that is scattered (weights cut over data-parallel axes) is not: its partial sums
//      would need the memory that the cut saves.
//   5. Lower each part. At its end, its streams wait for each other and the stream "p2p" for its
//      results, because a call has no event.
#pragma once

#include "hostir/passes/lower.h"

namespace hostir::pipeline {

/// What a parameter of the stage is: made by the previous stage, given per micro-batch, or the same
/// for all micro-batches.
enum class Role : uint8_t { kActivation, kData, kWeight };

/// A part of the stage's gradient, lowered to a host function. Values are those of Stage::gradient.
struct Phase {
  std::string host;
  std::vector<ValueId> arguments;
  std::vector<ValueId> results;
  size_t kept = 0;            // results from this one on are for later phases only
  bool communicates = false;  // it has a stream "comm"
};

struct Stage {
  Function gradient;                  // propagated
  std::vector<ValueId> parameters;    // of the fusion, in order
  std::vector<Role> roles;            // by parameter
  std::vector<ValueId> d_parameters;  // by parameter; invalid: it has no gradient
  std::vector<ValueId> outputs;
  std::vector<ValueId> d_outputs;  // by output, parameters of the gradient; invalid: none is needed
  Phase forward;
  Phase backward;                // all of it, or the activations' gradients only
  std::optional<Phase> weights;  // the weights' gradients, if they are separate

  /// The layout in which phases pass the value on: closed, and reduced unless it is the gradient of
  /// a weight.
  ShardType layout(ValueId value) const;
  /// The layout of the gradient of a weight after the last micro-batch: that of the weight.
  ShardType reduced_layout(size_t parameter) const;
  std::vector<std::pair<ValueId, Sharding>> declared;  // layouts that the fusion writes
};

struct StageRequest {
  std::string fusion;             // its name
  std::string name;               // of the stage: `stage0`
  std::string mesh;               // the sub-mesh of its rank
  std::vector<Role> roles;        // by parameter
  std::vector<ShardType> inputs;  // what the previous stage hands over
  SizeBindings sizes;
  bool split_backward = false;
  Overlap overlap = Overlap::kNone;
};

/// Appends the phases' fusions, kernels and host functions to `program`, which has the fusion and
/// the sub-mesh. Errors: `pipeline_c3` inputs and activations do not match; `pipeline_c4` there is
/// nothing to differentiate for; those of differentiate() and lower().
Expected<Stage> make_stage(Program& program, const StageRequest& request);

}  // namespace hostir::pipeline
