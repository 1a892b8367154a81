// Looks up names and contents of a live interpreter, for `print`, conditions and edits.
#pragma once

#include <optional>
#include <string>

#include "interp/core/interpreter.h"
#include "interp/session/values/value_query.h"

namespace hostir::interp {

/// The buffer that a name refers to now on a rank, in the innermost scope where it is live. Errors
/// (kRuntime): `no_value` (with the existing names), `not_live` (not allocated, or freed).
Expected<BufferRef> find_buffer(const Interpreter& interpreter, Rank rank, const std::string& name);

/// A live buffer of the rank by its id.
std::optional<AllocationView> find_allocation(const Interpreter& interpreter, Rank rank,
                                              AllocationId id);

/// The current value of an integer on a rank (a loop variable, the result of `read`), or the
/// integers of a list; empty if the name is neither.
std::vector<int64_t> find_integers(const Interpreter& interpreter, Rank rank,
                                   const std::string& name);

/// The type of the current version of a buffer: its current layout, else the declared one.
Type current_type(const Interpreter& interpreter, Rank rank, const BufferRef& buffer,
                  const std::string& name);

/// Elements that are NaN or infinite.
struct NotFinite {
  std::string value;           // without '%'
  std::vector<int64_t> index;  // global index of the first
  int64_t nan_count = 0;
  int64_t inf_count = 0;
  int64_t element_count = 0;  // in the rank's part
};
/// Checks what an instruction wrote on a rank and the rank still holds; nullopt if all is finite.
std::optional<NotFinite> find_not_finite(const Interpreter& interpreter, Rank rank, CodeIndex code);

Expected<ValueReading> read_value(const Interpreter& interpreter, const ValueQuery& query);

}  // namespace hostir::interp
