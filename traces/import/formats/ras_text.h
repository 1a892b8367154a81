// Reads NCCL's RAS report as text, as `ncclras` prints it by default.
//
// The text has only what differs: counts of calls on which the ranks of a communicator disagree,
// and the names of the ranks in the minority. The reader turns it into what `ncclras -f json` would
// say about the largest communicator that has a disagreement. Only counts that differ are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostir/io/plain_value.h"

namespace hostir::traces::import {

bool looks_like_ras_text(std::string_view head);
/// A report for read_ras(). `notes` gets what the text leaves open, one sentence each.
/// Errors: `ras_format` (no table of communicators).
Expected<io::PlainTree> read_ras_text(std::string_view text, std::vector<std::string>& notes);

}  // namespace hostir::traces::import
