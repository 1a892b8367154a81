// The charges against the odd ranks of divergent_ranks.h.
#pragma once

#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// Accuses the odd ranks, if there are any, unless `verdict` does so already. If it does, and the
/// records show nothing more, changes only the repair. `moving`: the run may still move, so only
/// mistakes count that no later call can mend.
void accuse_divergent_ranks(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                            bool moving, RecordedVerdict& verdict);

/// The rank of `wrong` names the wrong peer; `other` waits for it.
void name_wrong_peer(const std::vector<std::vector<MemberRef>>& calls, const MemberRef& wrong,
                     const MemberRef& other, RecordedVerdict& verdict);

/// The call that a repair makes of `wrong`: a send stays one, though `right` may be a recv.
std::string repaired_call(const MemberRef& wrong, const MemberRef& right);

/// Ranks with a call in flight.
std::vector<model::Rank> unfinished_ranks(const std::vector<std::vector<MemberRef>>& calls);

}  // namespace hostir::diagnose
