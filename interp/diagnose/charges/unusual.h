// Two sides of a call disagree and neither has a majority, as with a send and its recv. Other calls
// from their lines may show which side is wrong.
#pragma once

#include <vector>

#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// Accuses one of two sides if all other calls of both lines, and at least two of each, agree with
/// the other side. Does nothing without stacks, or if sizes vary.
void accuse_unusual(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                    const Disagreement& found, RecordedVerdict& verdict);

}  // namespace hostir::diagnose
