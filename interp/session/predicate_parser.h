// Parses a predicate inside a longer line: `break %y if COND on rank 3`.
#pragma once

#include "interp/session/predicate.h"
#include "interp/session/scanner.h"

namespace hostir::interp {

/// Reads the longest predicate and leaves the scanner after it.
Expected<Predicate> parse_predicate(Scanner& scanner);

}  // namespace hostir::interp
