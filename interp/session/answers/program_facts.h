// What the program says about a meeting whose members disagree: the calls they would make next if
// released, and the conditions that guard their calls. Read from the program without running it.
//
// A walk starts at a rank's program counter with its current loops. It evaluates conditions and
// bounds that depend on the rank and on loop variables, and ends at one that depends on a host
// read. Uses neither backend nor log.
#pragma once

#include <string>

#include "interp/diagnose/text/mismatch_card.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::interp {

/// The collective for a ledger row, in `shot.run`; null if there is none.
const model::Meeting* meeting_of(const Snapshot& shot, const LedgerRow& row);

/// The card of a meeting of `shot.run`, with everything known from the program.
diagnose::MismatchCard mismatch_card(const Snapshot& shot, const model::Meeting& meeting);

/// The source line of an instruction, trimmed; empty if it has none.
std::string line_text(const ProgramView& program, CodeIndex code);

}  // namespace hostir::interp
