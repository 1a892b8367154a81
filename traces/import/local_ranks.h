// Files whose names give a wrong rank: the one within a node (node0/trace_0, node1/trace_0), or
// that of a copy.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// Resolves ranks that several processes claim. If every rank was read from a file name, and there
/// are as many files as the job has ranks, numbers the files in order of their names. Otherwise
/// keeps the first file of each such rank. Returns a note on what it did; none if no two claim one.
std::vector<std::string> number_local_ranks(std::vector<ProcessDump>& dumps);
/// Forgets the calls of files with different ranks in their names but the same times of all calls:
/// one is a copy of the other, and nothing shows which. Returns a sentence for each.
std::vector<std::string> forget_copies(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
