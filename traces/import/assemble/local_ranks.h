// Files whose names give a wrong rank: the rank within a node (node0/trace_0, node1/trace_0), or
// the rank of a copied file.
#pragma once

#include <string>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// For files that claim the same rank. If every rank was read from a file name, and there are as
/// many files as the job has ranks, numbers the files in the order of their names. Otherwise keeps
/// the first file of each rank. Returns a sentence about what it did; none if all ranks differ.
std::vector<std::string> number_local_ranks(std::vector<ProcessDump>& dumps);
/// Forgets the calls of files with different ranks in their names but the same times of all calls:
/// one is a copy of the other, and nothing shows which. Returns a sentence for each.
std::vector<std::string> forget_copies(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
