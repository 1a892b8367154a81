// Evaluates predicates for a rank of a live interpreter at an instruction.
#pragma once

#include <string>

#include "interp/core/interpreter.h"
#include "interp/session/predicate.h"

namespace hostir::interp {

/// Fields: rank op function address comm seq bytes stream kernel iteration position steps time
/// memory peak. Calls: coord(axis) nan(%y) inf(%y) min(%y) max(%y) mean(%y) differs(%y). Also `%i`
/// and `%y[i, j]`. Reading a value that has not been written is an error.
PredicateLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code);

/// Checks that rank_lookup knows every field, axis and name. The error names the first unknown one
/// and lists what exists.
Expected<void> check_names(const Predicate& predicate, const Code& code);

/// True if the predicate uses only the place in the program, which is the same on all ranks.
bool asks_only_where(const Predicate& predicate, const Code& code);

}  // namespace hostir::interp
