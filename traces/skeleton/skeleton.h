// Generates a host program from a record of calls: each rank's calls in its order, and nothing
// else.
//
// The program has no kernels and no values, only communicators, buffers and calls. It hangs where
// the recorded job hung, can be stepped, and can be repaired. Ranks that make the same calls share
// the text; calls that only some ranks make are in a `where`.
#pragma once

#include <map>
#include <string>

#include "interp/diagnose/calls/job_calls.h"

namespace hostir::traces {

struct Skeleton {
  std::string text;  // of a file with one host function, `@job`
  /// The recorded communicators by their names in the text, without '%'.
  std::map<std::string, model::CommunicatorId> communicators;
};

/// `title` becomes the documentation of the function.
Skeleton skeleton_of(const model::Run& run, const diagnose::JobCalls& job,
                     const std::string& title);

}  // namespace hostir::traces
