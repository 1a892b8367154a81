// Tables of `info`, from a snapshot: one function each.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::interp {

std::string ranks_table(const Snapshot& snapshot);
std::string collectives_table(const Snapshot& snapshot);
std::string waits_text(const Snapshot& snapshot);
std::string streams_table(const Snapshot& snapshot);
std::string events_table(const Snapshot& snapshot);
std::string memory_table(const Snapshot& snapshot);
std::string breakpoints_table(const Snapshot& snapshot);
std::string program_text(const Snapshot& snapshot);
std::string faults_text(const Snapshot& snapshot);
std::string history_text(const Snapshot& snapshot);
/// Layouts of one value, or of all allocations of the focus rank: Shardy's and PyTorch's spelling,
/// and the box of every rank.
Expected<std::string> layout_text(const Snapshot& snapshot, const std::string& value);

/// Columns as wide as their widest cell, two blanks between; the last one is not padded.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace hostir::interp
