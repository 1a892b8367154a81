// The `hostir` command line: finds the verb, parses its options, runs it.
#pragma once

namespace hostir::cli {

/// Exit status of the process. Unknown verbs and options: 64, with the nearest name.
int run_command_line(int argc, const char* const* argv);

}  // namespace hostir::cli
