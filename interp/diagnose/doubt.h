// Whether a rank that never came to a call of another rank, or left it out, is at fault, or the
// other made a call too many.
//
// If a single rank waits, adding the call to the idle rank and removing it from the waiting one
// both let the job complete. Usually the idle rank stopped. These facts speak against it: it has
// passed the call, it made as many calls as the ranks of its program, or the waiting rank left its
// own rounds.
#pragma once

#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// If `verdict` charges one rank with kNeverCame and such a fact is found, accuses nobody: either
/// rank may be at fault.
void doubt_never_came(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                      RecordedVerdict& verdict);

/// A rank that left out a call is alone at the call of that number. If `verdict` charges ranks with
/// kLeftOut, and most members came there from the same line as they did, a single other rank made
/// one call too many: accuses that. A rank charged with having left out a send or recv may have
/// made a collective too many before.
void accuse_extra_instead(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                          RecordedVerdict& verdict);

/// If the call that a rank is charged with having left out was made there on the wrong group,
/// accuses the rank that made it.
void accuse_wrong_group_instead(const model::Run& run,
                                const std::vector<std::vector<MemberRef>>& calls,
                                RecordedVerdict& verdict);

}  // namespace hostir::diagnose
