// The beginning of a job that cannot matter to its hang: calls that completed on all their ranks,
// and that a repair leaves as they are.
#pragma once

#include <vector>

#include "interp/diagnose/job_calls.h"

namespace hostir::diagnose {

/// By rank, how many of its first calls completed and are the same in both jobs. No call is cut
/// off from its other members: each collective, and each send with its recv, belongs to the past
/// of all its ranks or of none. Cost: O(calls).
std::vector<size_t> common_past(const model::Run& run, const JobCalls& recorded,
                                const JobCalls& repaired);

/// Drops each rank's first calls.
void drop_past(const std::vector<size_t>& past, JobCalls& job);

}  // namespace hostir::diagnose
