// Pipeline schedules: the order in which each rank works on its stages, as data.
//
// A model is cut into `ranks * stages_per_rank` stages; stage s is on rank s % ranks. A batch is
// cut into micro-batches. A rank runs one action after another: the forward or backward pass of one
// stage on one micro-batch. This file has only the orders. `timetable.h` gives them times and
// counts the bubbles, `exchanges.h` adds the communication.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::pipeline {

/// The zero-bubble schedules split a backward pass: the gradient of the stage's input, which the
/// previous stage waits for, and the gradient of its weights, which can wait.
enum class Work : uint8_t { kForward, kBackward, kBackwardInput, kBackwardWeight };

struct Action {
  Work work = Work::kForward;
  int64_t stage = 0;
  int64_t micro_batch = 0;
  friend auto operator<=>(const Action&, const Action&) = default;
};

/// The text form of torch.distributed.pipelining: stage, work, micro-batch. `2F0`, `2B0` (the whole
/// backward pass), `2I0` (input), `2W0` (weights).
std::string to_string(const Action& action);

enum class ScheduleKind : uint8_t { kGPipe, kOneForwardOneBackward, kInterleaved, kZeroBubble };

struct ScheduleName {
  ScheduleKind kind;
  std::string_view name;  // on the command line
};
std::span<const ScheduleName> schedule_names();
std::string_view name(ScheduleKind kind);

struct Schedule {
  ScheduleKind kind = ScheduleKind::kGPipe;
  int64_t ranks = 1;
  int64_t stages_per_rank = 1;
  int64_t micro_batches = 1;
  std::vector<std::vector<Action>> order;  // by rank

  int64_t stages() const { return ranks * stages_per_rank; }
  int64_t rank_of(int64_t stage) const { return stage % ranks; }
};

/// Schedules with several stages on a rank take any number of micro-batches. They cut them into
/// groups of nearly equal size, of at least `ranks` each. If the number is a multiple of `ranks`,
/// the groups are Megatron's. Errors: `pipeline_c1` a number is not positive, or the kind has only
/// one stage on a rank.
Expected<Schedule> make_schedule(ScheduleKind kind, int64_t ranks, int64_t stages_per_rank,
                                 int64_t micro_batches);

}  // namespace hostir::pipeline
