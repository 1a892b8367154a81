// How the ranks of a job continue after their last recorded call.
//
// A dump ends where the job hung. Ranks that were blocked, or have no record, would have made more
// calls: those in which other ranks wait. This runs the job's calls in order, without values. When
// nothing moves, a rank that has made all its recorded calls joins a call that waits for it, if the
// call then completes. Ranks that may not continue never join a call; otherwise a wrong repair
// could complete.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "interp/diagnose/calls/job_calls.h"

namespace hostir::diagnose {

/// Which of the calls in which others wait a rank may make after its own.
enum class MayMake : uint8_t {
  kNone,
  kCompleted,  // those that the others completed in the record: the rank must have made them
  kAny,
};

/// `may_make` is by rank. Cost: O(calls * members).
void go_on(const model::Run& run, const std::vector<MayMake>& may_make, JobCalls& job);
/// True if go_on() added the call.
bool is_continuation(const JobCall& call);

/// Source lines whose calls do not block their ranks: if every call blocked, calls that completed
/// in the record could not have completed. `job` is the record, `may_make` is by rank.
std::set<std::string> passing_lines(const model::Run& run, const std::vector<MayMake>& may_make,
                                    JobCalls job);

/// True if all ranks come to the end of their calls, and all calls that meet agree.
bool completes(const model::Run& run, JobCalls job);
/// Which calls complete, by rank and place.
std::vector<std::vector<bool>> finished_calls(const model::Run& run, JobCalls job);

}  // namespace hostir::diagnose
