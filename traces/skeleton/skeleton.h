// Generates a host program from a record of calls: each rank's calls in its order, and nothing
// else.
//
// The program has no kernels and no values, only communicators, buffers and calls. It hangs where
// the recorded job hung, can be stepped, and can be repaired. Ranks that make the same calls share
// the text; calls that only some ranks make are in a `where`.
#pragma once

#include <string>

#include "interp/diagnose/job_calls.h"

namespace hostir::traces {

/// The text of a file with one host function, `@job`; `title` becomes its documentation.
std::string program_text(const model::Run& run, const diagnose::JobCalls& job,
                         const std::string& title);

}  // namespace hostir::traces
