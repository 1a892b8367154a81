// The beginning of a job that cannot affect its hang: calls that completed on all their ranks and
// that a repair does not change.
#pragma once

#include <vector>

#include "interp/diagnose/job_calls.h"

namespace hostir::diagnose {

/// By rank, how many of its first calls completed and are the same in both jobs. Each
/// collective, and each send with its recv, belongs to the past of all its ranks or of none.
/// Cost: O(calls).
std::vector<size_t> common_past(const model::Run& run, const JobCalls& recorded,
                                const JobCalls& repaired);

/// Drops each rank's first calls.
void drop_past(const std::vector<size_t>& past, JobCalls& job);

}  // namespace hostir::diagnose
