// Names of what exists while a program runs.
#pragma once

#include <cstdint>

#include "hostir/support/ids.h"

namespace hostir::interp {

/// A rank of the world mesh.
using Rank = int32_t;
inline constexpr Rank kNoRank = -1;

/// An issued asynchronous instruction of one rank: its event. Numbered per run in order of issue.
using TaskId = uint64_t;
inline constexpr TaskId kNoTask = ~TaskId{0};  // `none`: a completed event

/// An allocation of one rank. Numbered per rank in order of issue; parameters come first.
using AllocationId = Id<struct AllocationTag>;
/// Index into Code::instructions.
using CodeIndex = uint32_t;
/// Index into Code::streams; every rank has all of them.
using StreamIndex = uint32_t;
/// Index into Code::communicators.
using CommIndex = uint32_t;
/// An entry of the run's LoopPathTable; 0 is "in no loop".
using LoopPathId = uint32_t;

}  // namespace hostir::interp
