// A host program from a record of calls: what each rank called, in its order, and nothing else.
//
// There are no kernels and no values, only communicators, buffers and calls, so that the program
// hangs where the recorded job hung, can be stepped, and can be repaired. Ranks that call the same
// share the text; what only some call stands in `where`. Of calls that some ring buffer lost only
// those are taken that every member has. A rank without a record makes what the others completed.
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
  model::Call call;                   // with a root where the kind has one
  std::string place;                  // where the user's text calls it; may be empty
  uint64_t order = 0;                 // equal to the one before: issued as one with it
};

/// By rank.
using JobCalls = std::vector<std::vector<JobCall>>;

/// What the record holds.
JobCalls job_of(const model::Run& run);
/// The same with the edits, and with every rank going on to make the calls in which others wait.
JobCalls repaired(const model::Run& run, const std::vector<diagnose::CallEdit>& edits);

/// The text of a file with one host function, `@job`; `title` becomes its documentation.
std::string program_text(const model::Run& run, const JobCalls& job, const std::string& title);

}  // namespace hostir::traces
