// What expressions mean for a rank of a live interpreter at an instruction.
#pragma once

#include "interp/core/interpreter.h"
#include "interp/session/expressions/expression.h"

namespace hostir::interp {

/// Fields: rank op function address comm seq bytes stream kernel iteration position steps time
/// memory peak. Calls: coord(axis) nan(%y) inf(%y) min(%y) max(%y) mean(%y), also of a slice, and
/// differs(%y). Also `%i` and `%y[i, j]`. Reading a value that has not been written is an error.
ExpressionLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code);

/// Checks that rank_lookup knows every field, axis and name. The error names the first unknown one
/// and lists what exists. `by_place`: all ranks get the same value at an instruction.
Expected<NameType> check_condition(const Expression& condition, const Code& code);

}  // namespace hostir::interp
