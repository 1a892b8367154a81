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

/// Elements that are NaN or infinite.
struct NotFinite {
  std::string value;           // without '%'
  std::vector<int64_t> index;  // global, of the first
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  int64_t element_count = 0;  // of the rank's part
};
/// Of what an instruction wrote on a rank and the rank still holds; nothing where all is finite.
std::optional<NotFinite> find_not_finite(const Interpreter& interpreter, Rank rank, CodeIndex code);

Expected<ValueReading> read_value(const Interpreter& interpreter, const ValueQuery& query);

}  // namespace hostir::interp
