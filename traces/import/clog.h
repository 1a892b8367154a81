// torchcomms' "clog": one text file per process, a line per event (version 1).
//
// A signature line tells an operation once; Q lines enqueue it, S, E and W lines tell its start,
// end and wait, matched first in, first out. Numbers in a communicator are counted here: Q lines in
// file order. `leaked` warnings at the end name what never finished.
#pragma once

#include <string_view>

#include "hostir/support/expected.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_clog(std::string_view head);
/// Errors: `clog` (another version). Lines that do not fit are counted in a remark.
Expected<ProcessDump> read_clog(std::string_view text);

}  // namespace hostir::traces::import
