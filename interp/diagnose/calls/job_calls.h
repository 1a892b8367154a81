// The calls of a job by rank: as recorded, or repaired and continued.
//
// If some ring buffer lost calls, only calls that every member still has are used. A rank without a
// record makes the calls that the others completed.
#pragma once

#include <cstdint>
#include <optional>
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
  bool passes = false;                // does not hold up its rank's later calls
  MemberRef from;                     // the recorded call that it is or copies
  size_t recorded_at = SIZE_MAX;      // its place in its rank's record; SIZE_MAX: not recorded
};

/// By rank.
using JobCalls = std::vector<std::vector<JobCall>>;

/// Which calls do not hold up their rank's later ones. Hosts run ahead of their devices: a call
/// that is only issued may still wait, on the device, for an earlier one.
enum class Passing : uint8_t {
  kShown,   // those that must not, because later calls completed
  kIssued,  // also sends and recvs after which their rank issued another call
};

/// The calls in the record, without the first `past` calls of each rank (common_past(); empty: with
/// all).
JobCalls job_of(const model::Run& run, Passing passing = Passing::kShown,
                const std::vector<size_t>& past = {});
/// Like job_of(), with the edits applied, and with every rank continuing to the calls in which
/// others wait.
JobCalls repaired(const model::Run& run, const std::vector<CallEdit>& edits,
                  Passing passing = Passing::kShown, const std::vector<size_t>& past = {});
/// With which the repaired job completes; kShown if both do.
std::optional<Passing> completes_with(const model::Run& run, const std::vector<CallEdit>& edits);
inline bool explains(const model::Run& run, const std::vector<CallEdit>& edits) {
  return completes_with(run, edits).has_value();
}

}  // namespace hostir::diagnose
