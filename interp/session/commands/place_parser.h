// Parses places in a program: `@f#9`, `#9`, `%y`, `all_reduce#1`, `mlp.hir:12`, `line 12`,
// `"label"`, `write %y`, `rendezvous`, `nan`, `fault`, `end`. places.h resolves them.
#pragma once

#include <string>

#include "interp/session/commands/command.h"
#include "interp/session/commands/scanner.h"

namespace hostir::interp {

/// Reads the next place. Errors: kUsage, with a caret.
Expected<Place> read_place(Scanner& in);
/// `%y` without its '%'. Errors: kUsage, with a caret.
Expected<std::string> read_value_name(Scanner& in);

}  // namespace hostir::interp
