// The calls of a job by rank: as recorded, or repaired and continued.
//
// If some ring buffer lost calls, only calls that every member still has are used. A rank without a
// record makes the calls that the others completed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// One call of one rank.
struct JobCall {
  enum class Shape : uint8_t { kCollective, kSend, kRecv } shape = Shape::kCollective;
  model::CommunicatorId communicator;
  model::Rank peer = model::kNoRank;  // of a send or recv
  model::Call call;                   // with a root if the kind has one
  std::string place;                  // the call in the user's code; may be empty
  uint64_t order = 0;                 // equal to the previous call's: issued together with it
  bool completed = false;             // in the record
  bool passes = false;                // a send or recv that does not block its rank's host
  MemberRef from;                     // the recorded call that it is or copies
  size_t recorded_at = SIZE_MAX;      // its place in its rank's record; SIZE_MAX: not recorded
};

/// By rank.
using JobCalls = std::vector<std::vector<JobCall>>;

/// The calls in the record.
JobCalls job_of(const model::Run& run);
/// Like recorded_job(), with the edits applied, and with every rank continuing to the calls in
/// which others wait.
JobCalls repaired(const model::Run& run, const std::vector<CallEdit>& edits);

}  // namespace hostir::diagnose
