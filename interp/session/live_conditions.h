// Predicates about a rank of a live interpreter at an instruction.
#pragma once

#include <string>

#include "interp/core/interpreter.h"
#include "interp/session/predicate.h"

namespace hostir::interp {

/// Fields: rank op function address comm seq bytes stream kernel iteration position steps time
/// memory peak; calls: coord(axis) nan(%y) inf(%y) min(%y) max(%y) mean(%y) differs(%y); `%i`;
/// `%y[i, j]`. Values that nobody wrote yet are errors.
PredicateLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code);

/// The first field, axis or name that rank_lookup would not know, as an error with what there is.
Expected<void> check_names(const Predicate& predicate, const Code& code);

/// Whether it asks only where in the program an instruction is, which is the same on all ranks.
bool asks_only_where(const Predicate& predicate, const Code& code);

}  // namespace hostir::interp
