// The program of a log that cannot be run again, as far as the log contains it.
//
// If the program text still parses and gives the logged instructions, that text is used. Otherwise
// it is a list of the logged instructions, one per line, so that every event has a line, and the
// view has no Code.
#pragma once

#include <memory>

#include "interp/model/run.h"
#include "interp/session/prepare/program_view.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// `run`: the log's (log_model.h).
std::shared_ptr<const interp::ProgramView> program_of(const LogReader& log, const model::Run& run);

}  // namespace hostir::traces
