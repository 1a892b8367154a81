// `set %y[0, 1] = 3.5`: changes elements of a buffer between two decisions.
#pragma once

#include <vector>

#include "interp/core/history/history.h"
#include "interp/session/commands/command.h"

namespace hostir::interp {

/// The ranks to edit: those given, otherwise every rank that holds a part of the slice, so that
/// replicas stay equal. Errors: no rank holds it.
Expected<std::vector<Rank>> edited_ranks(const Interpreter& interpreter, const Command& command,
                                         Rank focus);

/// Error `edit_in_flight` if an issued write of the buffer has not completed: it would overwrite
/// the edit. The message names that write.
Expected<void> check_editable(const Interpreter& interpreter, const std::string& value, Rank rank);

/// Writes the part of the slice that the rank holds. A number fills it; an inline value must have
/// the slice's shape.
/// Errors: `edit_value` (text, shape), `edit_view` (a strided or packed buffer).
Expected<void> edit_value(History& history, const Command& command, Rank rank);

/// After going back from position `before`: a sentence, with a newline, that names the edits that
/// were undone and are now ahead; empty if there are none.
std::string undone_edits(const History& history, uint64_t before);

}  // namespace hostir::interp
