// The loop of the terminal debugger: reads lines, sends commands to a session, prints text.
//
// It is independent of programs, backends and logs: every line is a Command, and every answer is a
// Snapshot or text. An empty line repeats the last stepping command, as in gdb. `#` begins a
// comment.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "interp/session/session.h"

namespace hostir::cli {

struct ReplOptions {
  std::string prompt = "(hostir) ";
  /// Uses libedit, and does not read `input`, if standard input and output are terminals.
  enum class Editing : uint8_t { kNo, kOnTerminal } editing = Editing::kNo;
  enum class Echo : uint8_t { kNo, kYes } echo = Echo::kNo;  // print the commands, for transcripts
};

/// Runs until `quit` or the end of the input. Returns the exit status: 0; 3 if the last run ended
/// with a fault, 4 with a deadlock or mismatch; 64 if a script (`echo`) has an invalid command.
int debug_repl(interp::Session& session, std::istream& input, std::ostream& output,
               const ReplOptions& options);

}  // namespace hostir::cli
