// Files whose names give the rank within a node: node0/trace_0, node1/trace_0.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// Resolves ranks that several processes claim. If every rank was read from a file name, and there
/// are as many files as the job has ranks, numbers the files in order of their names. Otherwise
/// keeps the first file of each such rank. Returns a note on what it did; none if no two claim one.
std::vector<std::string> number_local_ranks(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
