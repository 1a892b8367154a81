// Names and contents of a live interpreter: what `print`, conditions and edits look up.
#pragma once

#include <optional>
#include <string>

#include "interp/core/interpreter.h"
#include "interp/session/value_query.h"

namespace hostir::interp {

/// The buffer that a name means on a rank now: of the innermost scope where it is live.
/// Errors (kRuntime): `no_value` (with the names there are), `not_live` (not allocated, or freed).
Expected<BufferRef> find_buffer(const Interpreter& interpreter, Rank rank, const std::string& name);

/// The integer that a name means on a rank now (loop variables, `read` results).
std::optional<int64_t> find_integer(const Interpreter& interpreter, Rank rank,
                                    const std::string& name);

/// Type of the current version of a buffer: its layout now, else the declared one.
Type current_type(const Interpreter& interpreter, Rank rank, const BufferRef& buffer,
                  const std::string& name);

Expected<ValueReading> read_value(const Interpreter& interpreter, const ValueQuery& query);

}  // namespace hostir::interp
