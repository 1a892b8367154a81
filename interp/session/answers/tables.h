// Tables of `info`, from a snapshot: one function each.
#pragma once

#include <string>

#include "interp/session/snapshots/snapshot.h"

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
/// Layouts of one value, or of all allocations of the focus rank: in Shardy's and PyTorch's
/// notation, with the box of every rank.
Expected<std::string> layout_text(const Snapshot& snapshot, const std::string& value);

}  // namespace hostir::interp
