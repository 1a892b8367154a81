// What a program tells about a meeting whose members disagree: what they would call next, were they
// let go, and the conditions that guard their calls. Read from the program, not run.
//
// A walk starts at a rank's program counter with the loops that it is in. Conditions and bounds
// that depend on the rank and on loop variables are known; where one depends on what the host reads
// while it runs, the walk ends. No backend and no log are asked.
#pragma once

#include <string>

#include "interp/diagnose/card.h"
#include "interp/session/snapshot.h"

namespace hostir::interp {

/// The collective of a row of the ledger, in `shot.run`; null where there is none.
const model::Meeting* meeting_of(const Snapshot& shot, const LedgerRow& row);

/// The card of a meeting of `shot.run`, with everything that the program tells.
diagnose::MismatchCard mismatch_card(const Snapshot& shot, const model::Meeting& meeting);

/// The program's line of an instruction, without what stands around it; empty: it has none.
std::string line_text(const ProgramView& program, CodeIndex code);

}  // namespace hostir::interp
