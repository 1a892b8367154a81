// Predicates about a rank of a live interpreter at an instruction.
#pragma once

#include <string>

#include "interp/core/interpreter.h"
#include "interp/session/predicate.h"

namespace hostir::interp {

/// Fields: rank op function address line comm seq bytes stream kernel iteration position steps
/// time; calls: coord(axis) nan(%y) inf(%y) min(%y) max(%y) mean(%y); `%i`; `%y[i, j]`.
PredicateLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code);

/// The first field, axis or name that rank_lookup would not know, as an error with what there is.
Expected<void> check_names(const Predicate& predicate, const Code& code);

}  // namespace hostir::interp
