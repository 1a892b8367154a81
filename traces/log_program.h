// The program of a log that cannot be run again, as far as the log tells it.
//
// Where the text that ran still reads and gives the logged instructions, it is that text; else a
// list of the instructions as they were logged, one a line, so that every event has a line. Such
// instructions name their operands in text only: they cannot be executed.
#pragma once

#include <memory>

#include "interp/session/program_view.h"
#include "traces/log_reader.h"

namespace hostir::traces {

std::shared_ptr<const interp::ProgramView> program_of(const LogReader& log);

}  // namespace hostir::traces
