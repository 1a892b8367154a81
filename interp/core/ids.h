// Names of what exists while a program runs.
#pragma once

#include <cstdint>

#include "hostir/support/ids.h"

namespace hostir::interp {

/// A rank of the world mesh.
using Rank = int32_t;
inline constexpr Rank kNoRank = -1;

/// An issued asynchronous instruction of one rank: its event. Numbered per rank in order of issue,
/// with the rank in the upper bits, so that ids do not depend on how ranks interleave.
using TaskId = uint64_t;
inline constexpr TaskId kNoTask = ~TaskId{0};  // `none`: a completed event
inline constexpr unsigned kTaskRankShift = 40;
constexpr TaskId make_task_id(Rank rank, uint64_t number) {
  return (static_cast<uint64_t>(rank) << kTaskRankShift) | number;
}
constexpr Rank task_rank(TaskId id) { return static_cast<Rank>(id >> kTaskRankShift); }
constexpr uint64_t task_number(TaskId id) { return id & ((uint64_t{1} << kTaskRankShift) - 1); }

/// An allocation of one rank. Numbered per rank in order of issue; parameters come first.
using AllocationId = Id<struct AllocationTag>;
/// Index into Code::instructions.
using CodeIndex = uint32_t;
/// Index into Code::streams; every rank has all of them.
using StreamIndex = uint32_t;
inline constexpr StreamIndex kNoStream = 0xffffffffu;  // the host
/// Index into Code::communicators.
using CommIndex = uint32_t;
inline constexpr CommIndex kNoComm = 0xffffffffu;
/// An entry of the run's LoopPathTable; 0 is "in no loop".
using LoopPathId = uint32_t;

}  // namespace hostir::interp
