// The `hostir` command line: finds the verb, parses its options, runs it.
#pragma once

#include <string>

namespace hostir::cli {

/// Exit status of the process. Unknown verbs and options: 64, with the nearest name.
int run_command_line(int argc, const char* const* argv);

/// A script for bash that completes verbs, options, words of choices, functions of the file and
/// files.
std::string bash_completion();

}  // namespace hostir::cli
