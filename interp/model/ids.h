// Identifiers in a run: ranks, tasks, and indices into the vectors of a `Run`.
#pragma once

#include <cstdint>

#include "hostir/support/ids.h"

namespace hostir::model {

/// A global rank: a position in the world mesh, or the rank that a launcher assigned to a process.
using Rank = int32_t;
inline constexpr Rank kNoRank = -1;

/// An asynchronous instruction that one rank issued. Numbered per rank in order of issue, with the
/// rank in the upper bits, so that ids do not depend on how ranks interleave.
using TaskId = uint64_t;
inline constexpr TaskId kNoTask = ~TaskId{0};
inline constexpr unsigned kTaskRankShift = 40;
constexpr TaskId make_task_id(Rank rank, uint64_t number) {
  return (static_cast<uint64_t>(rank) << kTaskRankShift) | number;
}
constexpr Rank task_rank(TaskId id) { return static_cast<Rank>(id >> kTaskRankShift); }
constexpr uint64_t task_number(TaskId id) { return id & ((uint64_t{1} << kTaskRankShift) - 1); }

// Indices into the vectors of a Run. An id that is not valid() means "unknown".
using CommunicatorId = Id<struct CommunicatorTag>;
using StreamId = Id<struct StreamTag>;
using InstructionId = Id<struct InstructionTag>;
using ClockId = Id<struct ClockTag>;

}  // namespace hostir::model
