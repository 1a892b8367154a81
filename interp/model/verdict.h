// What is derived from a Run: the wait graph, and the verdict on what went wrong.
//
// Plain values. interp/diagnose implements the two functions; they are declared here so that the
// engine, which is in the same layer, can request its own verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::model {

/// A rank's host, or one of its queues of asynchronous work: a stream or, if the source has no
/// streams, the rank's calls on one communicator.
struct WaitNode {
  Rank rank = kNoRank;
  StreamId stream;              // for a queue
  CommunicatorId communicator;  // for a queue without a stream
  bool queue = false;
  enum class Why : uint8_t {
    kWaits,
    kFinished,
    kFrozen,
    kNeverStarted,
    kRunning,
    kDead,
    kRemote,  // in another process that has not reported
    kUnknown,
  } why = Why::kWaits;
  InstructionId instruction;  // the host's next instruction, or the one at the head of the queue
  std::string text;           // `rank 0 stream comm: @f#4 all_reduce`
};

/// `from` cannot continue before `to` acts.
struct WaitEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  std::string on;               // `all_reduce seq 0`, `event of @f#7`
  CommunicatorId communicator;  // valid: the edge is a communication
  uint64_t sequence = 0;
  enum class Act : uint8_t { kIssue, kSend, kReceive } act = Act::kIssue;  // what `to` has not done
  bool known = true;      // false: it is not recorded whether `to` has done it
  bool inferred = false;  // a host with unknown position, assumed to wait for its own work
};

struct WaitGraph {
  std::vector<WaitNode> nodes;  // hosts by rank, then queues by rank
  std::vector<WaitEdge> edges;
  std::vector<uint32_t> cycle;     // nodes of the shortest cycle; empty: none
  std::vector<uint32_t> culprits;  // nodes waited for that do not wait themselves
  std::string sentence;            // `rank 1 never came to all_reduce seq 0, in which rank 0 waits`
};

/// A line of explanation, and the ranks to which it applies.
struct VerdictNote {
  std::vector<Rank> ranks;  // ascending
  InstructionId instruction;
  std::string text;
};

/// Members that made the same call.
struct Side {
  std::string text;         // `all_reduce sum f32[4]`
  std::vector<Rank> ranks;  // ascending
  bool expected = false;    // made by more than half of all members
};

struct Verdict {
  std::string
      kind;  // `deadlock`, `timeout`, `collective_mismatch`; empty: nothing is known to be wrong
  std::string sentence;  // empty only if `kind` is and no rank waits
  std::vector<VerdictNote> notes;
  size_t culprit = 0;  // index of the note that the sentence refers to
  // What does not match: a collective, or a send and its recv.
  CommunicatorId communicator;
  std::optional<uint64_t> sequence;
  std::vector<Side> sides;             // for a mismatch, in order of their first rank
  std::vector<std::string> not_known;  // information that would allow a better verdict
  bool is_fault() const { return !kind.empty(); }
};

}  // namespace hostir::model

namespace hostir::diagnose {

model::WaitGraph wait_graph(const model::Run& run);
/// Returns the first that applies: members of a meeting that disagree; a run that is stuck, with
/// the ranks at fault or the shortest cycle; nothing. If the run moves, or that is unknown, reports
/// only a mismatch that its members' own calls prove.
model::Verdict diagnose(const model::Run& run);

}  // namespace hostir::diagnose
