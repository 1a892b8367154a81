// `set %y[0, 1] = 3.5`: changing elements of a buffer between two decisions.
#pragma once

#include <vector>

#include "interp/core/history.h"
#include "interp/session/command.h"

namespace hostir::interp {

/// The ranks that an edit is for: those written, else every rank that holds a part of the slice, so
/// that replicas stay equal. Errors: nobody holds it.
Expected<std::vector<Rank>> edited_ranks(const Interpreter& interpreter, const Command& command,
                                         Rank focus);

/// An error, `edit_in_flight`, where a write of the buffer was issued and is not complete: it would
/// overwrite the edit. The sentence names it.
Expected<void> check_editable(const Interpreter& interpreter, const std::string& value, Rank rank);

/// Writes the part of the slice that the rank holds; a number fills it, an inline value has the
/// slice's shape. Errors: `edit_value` (text, shape), `edit_view` (a strided or packed buffer).
Expected<void> edit_value(History& history, const Command& command, Rank rank);

/// After going back from position `before`: the edits that lie ahead again, as a sentence with a
/// newline. Empty where there are none.
std::string undone_edits(const History& history, uint64_t before);

}  // namespace hostir::interp
