// Finds the members of NCCL's communicators; a process knows only its own position in each.
#pragma once

#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// Fills in the members of groups that have a size and a position but no members, from all
/// processes of a job, by the groups' names, where every position is known. A group as large as the
/// job has all ranks, in order where positions are not known. If two ranks have the same position,
/// the name is not that of one communicator: each rank's group gets a name of its own.
void name_members(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
