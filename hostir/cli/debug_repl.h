// The terminal debugger's loop: lines in, commands to a session, text out.
//
// It knows nothing of programs, backends and logs: every line is a Command, every answer a Snapshot
// or a text. An empty line repeats the last command of stepping, as in gdb. `#` begins a comment.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "interp/session/session.h"

namespace hostir::cli {

struct ReplOptions {
  std::string prompt = "(hostir) ";
  enum class Echo : uint8_t { kNo, kYes } echo = Echo::kNo;  // print the commands: for transcripts
};

/// Runs until `quit` or the end of the input. The exit status: 0, or what the last run ended with:
/// 3 a fault, 4 a deadlock or mismatch; 64 where a command of a script (`echo`) was wrong.
int debug_repl(interp::Session& session, std::istream& input, std::ostream& output,
               const ReplOptions& options);

}  // namespace hostir::cli
