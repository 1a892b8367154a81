// The beginning of a job that cannot affect its hang: calls that completed on all their ranks and
// that a repair does not change.
#pragma once

#include <cstddef>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// By rank, how many of its first `calls` (calls_by_rank(run)) completed and come before all edits
/// of the rank. Each collective, and each send with its recv, belongs to the past of all its ranks
/// or of none. Cost: O(calls), again for each time that one rank's past shortens another's.
std::vector<size_t> common_past(const model::Run& run,
                                const std::vector<std::vector<MemberRef>>& calls,
                                const std::vector<CallEdit>& edits);

}  // namespace hostir::diagnose
