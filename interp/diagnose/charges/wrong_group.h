// A rank that makes a call on another group than the others: their call waits for it, and nobody
// joins its own.
//
// Its record looks as if it had left out one call and made another one more. The line tells: the
// rank made the others' call, from their line, on a group on which nobody ever calls from there.
#pragma once

#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// Charges the accused ranks with that, if each made such a call and the repair that makes it on
/// the others' group alone lets all ranks complete. If one rank is charged with leaving out such a
/// call of another rank, accuses the other one.
void accuse_wrong_group_instead(const model::Run& run,
                                const std::vector<std::vector<MemberRef>>& calls,
                                RecordedVerdict& verdict);

}  // namespace hostir::diagnose
