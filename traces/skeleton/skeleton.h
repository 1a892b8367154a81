// Generates a host program from a record of calls: each rank's calls in its order, and nothing
// else.
//
// The program has no kernels and no values, only communicators, buffers and calls. It hangs where
// the recorded job hung, can be stepped, and can be repaired. Ranks that make the same calls share
// the text; calls that only some ranks make are in a `where`. If some ring buffer lost calls, only
// calls that every member still has are used. A rank without a record makes the calls that the
// others completed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::traces {

/// One call of one rank.
struct JobCall {
  enum class Shape : uint8_t { kCollective, kSend, kRecv } shape = Shape::kCollective;
  model::CommunicatorId communicator;
  model::Rank peer = model::kNoRank;  // of a send or recv
  model::Call call;                   // with a root if the kind has one
  std::string place;                  // source location of the call in the user's code; may be
                                      // empty
  uint64_t order = 0;                 // if equal to the previous one: issued together with it
  bool completed = false;             // in the record
};

/// By rank.
using JobCalls = std::vector<std::vector<JobCall>>;

/// The calls in the record.
JobCalls job_of(const model::Run& run);
/// The same with the edits applied, and with every rank continuing to the calls in which others
/// wait.
JobCalls repaired(const model::Run& run, const std::vector<diagnose::CallEdit>& edits);

/// The text of a file with one host function, `@job`; `title` becomes its documentation.
std::string program_text(const model::Run& run, const JobCalls& job, const std::string& title);

}  // namespace hostir::traces
