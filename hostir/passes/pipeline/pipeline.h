// A training step of a pipeline as one host function, from one fusion per stage.
//
//   1. Stage s gets the results of stage s - 1 as its first parameters. Parameters that are given
//      per micro-batch get a leading dimension; all others are weights. The last stage returns the
//      loss, a scalar.
//   2. The world mesh is the fusions' mesh with the axis "pp" before its own. The stages of
//      pipeline rank r run on its sub-mesh pp=r. Stages may be sharded over the other axes.
//   3. Lower each stage's forward and backward parts (stage.h).
//   4. Each rank runs its part of the schedule in a `where` of its own: calls on the stream
//      "compute", the groups of plan_exchanges() on the stream "p2p", frees after the last use.
//      The loss and the weights' gradients are added up over the micro-batches. Gradients that are
//      partial sums (stage.h) are then reduced in place, in one call per list of axes and stage.
//   5. A tied weight (an embedding that is also the output projection) is a parameter of each stage
//      that has it. At the end the first of these stages gets the gradients of the others, adds
//      them in the order of the stages, and sends the sum back: all copies are updated by the same
//      bits. Megatron-LM all-reduces them between its first and last stage.
// The result is an ordinary program: `run`, `debug` and `--p2p-sweep` take it like any other.
#pragma once

#include "hostir/passes/pipeline/schedule.h"
#include "hostir/passes/pipeline/stage.h"

namespace hostir::pipeline {

/// The loss and gradients of a batch: the mean or the sum of its micro-batches'.
enum class Batch : uint8_t { kMean, kSum };

struct PipelineRequest {
  std::string name = "pipeline";       // of the host function
  std::vector<std::string> stages;     // fusions, in order; a fusion may occur several times
  std::vector<std::string> data;       // parameters of any stage that are given per micro-batch
  std::vector<std::string> tied = {};  // weights that several stages have, by name
  std::vector<std::string> constants = {};  // integer parameters that all micro-batches share
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  int64_t ranks = 0;  // 0: one per stage
  int64_t micro_batches = 1;
  Batch batch = Batch::kMean;
  SizeBindings sizes;
  Overlap overlap = Overlap::kNone;  // within stages
};

struct Pipeline {
  Program program;  // the given one, extended
  Schedule schedule;
  std::string function;
};

/// Parameters of the host function: `%s0.w` for the parameter %w of stage 0. Results: `%loss`, then
/// `%d_s0.w` for each weight.
/// Errors: `pipeline_c1` the schedule; `pipeline_c2` a stage or parameter does not exist, or stages
/// do not divide among the ranks, or a tied parameter is not in several stages; `pipeline_c3`,
/// `pipeline_c4` as make_stage(); `pipeline_c5` the last stage does not return a scalar, or another
/// one does; `pipeline_c6` stages on several meshes; `pipeline_c7` an integer parameter that is
/// neither data nor a constant; `pipeline_c8` a tied parameter is no weight, or differs between
/// stages in type or sharding.
Expected<Pipeline> make_pipeline(const Program& program, const PipelineRequest& request);

/// Adds to the pipeline's program the same step without a pipeline: the fusion `@<name>.whole`, all
/// stages on one micro-batch after another; its gradient `@<name>.whole.gradient`, with the
/// parameters and results of the host function; and a test that runs one against the other.
/// Errors: those of differentiate().
Expected<void> add_reference(Pipeline& pipeline, const PipelineRequest& request);

/// The role of each parameter of each stage. Errors: `pipeline_c2`, `pipeline_c3`, `pipeline_c7`.
Expected<std::vector<std::vector<Role>>> find_roles(const Program& program,
                                                    const PipelineRequest& request);

/// A weight that several stages have.
struct Tie {
  std::string name;
  std::vector<std::pair<size_t, size_t>> members;  // stage and parameter
};

/// Errors: `pipeline_c2`, `pipeline_c8`.
Expected<std::vector<Tie>> find_ties(const Program& program, const PipelineRequest& request,
                                     const std::vector<std::vector<Role>>& roles);

}  // namespace hostir::pipeline
