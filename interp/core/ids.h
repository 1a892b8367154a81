// Identifiers of the entities of a running program.
#pragma once

#include <cstdint>

#include "hostir/support/ids.h"
#include "interp/model/ids.h"

namespace hostir::interp {

// Ranks and tasks are those of the model. Here a task is also its event; kNoTask is `none`, an
// event that has completed.
using model::kNoRank;
using model::kNoTask;
using model::make_task_id;
using model::Rank;
using model::task_number;
using model::task_rank;
using model::TaskId;

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
