// Files whose names give the rank within a node: node0/trace_0, node1/trace_0.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// If several processes have the same rank, and all ranks come from files' names, which are as many
/// as the job has ranks, numbers the files in order of their names. Otherwise keeps the first file
/// of each such rank. Sentences on what it did; empty if every rank has one process.
std::vector<std::string> number_local_ranks(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
