// Who is at fault: the rank that never made a call, or the other rank, which made an extra
// one?
//
// If a single rank waits, adding the call to the idle rank and removing it from the waiting one
// both let the job complete. Usually the idle rank stopped. Evidence against that: the idle rank
// has passed the call, it made as many calls as other ranks of its program, or the waiting rank
// left its own rounds.
#pragma once

#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// If `verdict` charges one rank with kNeverCame and such a fact is found, accuses nobody: either
/// rank may be at fault.
void doubt_never_came(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                      RecordedVerdict& verdict);

/// A rank that left out a call is the only one at the call with that number. If `verdict` charges
/// ranks with kLeftOut, and most members reached that number from the same line as these, then a
/// single other rank made an extra call: accuses that rank instead. A rank charged with leaving out
/// a send or recv may have made an extra collective before.
void accuse_extra_instead(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                          RecordedVerdict& verdict);

}  // namespace hostir::diagnose
