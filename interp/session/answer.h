// The commands that only look: info, print, x, backtrace, list, help.
//
// They need nothing but a snapshot and `Session::read`, so live and recorded sessions answer them
// with the same words. Texts end with a newline.
#pragma once

#include <string>

#include "interp/session/session.h"

namespace hostir::interp {

/// True for commands that `answer` knows.
bool only_looks(CommandKind kind);

/// Errors: those of `read`, and of selectors and places that the program does not have.
Expected<std::string> answer(Session& session, const Command& command);

/// Where a rank is: its address, line and source text with an arrow.
std::string position_text(const Snapshot& snapshot, Rank rank);

}  // namespace hostir::interp
