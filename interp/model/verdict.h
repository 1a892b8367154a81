// What is made of a Run: who waits for whom, and the verdict on what went wrong.
//
// Plain values; the two functions are those of interp/diagnose, declared here so that the engine,
// which is of the same layer, can ask for its own verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::model {

/// A rank's host, or one of its queues of asynchronous work: a stream; or, where the source knows
/// no streams, the rank's calls on one communicator.
struct WaitNode {
  Rank rank = kNoRank;
  StreamId stream;              // of a queue
  CommunicatorId communicator;  // of a queue without a stream
  bool queue = false;
  enum class Why : uint8_t {
    kWaits,
    kFinished,
    kFrozen,
    kNeverStarted,
    kRunning,
    kDead,
    kRemote,  // in another process, and not heard of
    kUnknown,
  } why = Why::kWaits;
  InstructionId instruction;  // the host's next, or the one at the head of the queue
  std::string text;           // `rank 0 stream comm: @f#4 all_reduce`
};

/// `from` cannot go on before `to` does something.
struct WaitEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  std::string on;               // `all_reduce seq 0`, `event of @f#7`
  CommunicatorId communicator;  // valid: the edge is a communication
  uint64_t sequence = 0;
  enum class Act : uint8_t { kIssue, kSend, kReceive } act = Act::kIssue;  // what `to` has not done
  bool known = true;      // false: whether `to` has done it is not recorded
  bool inferred = false;  // a host whose position is not recorded, and its own unfinished work
};

struct WaitGraph {
  std::vector<WaitNode> nodes;  // hosts by rank, then queues by rank
  std::vector<WaitEdge> edges;
  std::vector<uint32_t> cycle;     // nodes of the shortest cycle, if there is one
  std::vector<uint32_t> culprits;  // nodes waited for that do not wait themselves
  std::string sentence;            // `rank 0 blocked in all_reduce seq 0; never issued by rank 1`
};

/// A line of explanation, about one rank.
struct VerdictNote {
  Rank rank = kNoRank;
  InstructionId instruction;
  std::string text;
};

/// Members that stated the same.
struct Side {
  std::string text;         // `all_reduce sum f32[4]`
  std::vector<Rank> ranks;  // ascending
  bool expected = false;    // more than half of all members
};

struct Verdict {
  std::string
      kind;  // `deadlock`, `timeout`, `collective_mismatch`; empty: nothing is known to be wrong
  std::string sentence;  // empty only where `kind` is, and nobody waits
  std::vector<VerdictNote> notes;
  size_t culprit = 0;  // the note that the sentence is about
  // What does not fit together: a collective, or a send and its recv.
  CommunicatorId communicator;
  std::optional<uint64_t> sequence;
  std::vector<Side> sides;             // of a mismatch, in order of their first rank
  std::vector<std::string> not_known;  // what would have to be known to say more
  bool is_fault() const { return !kind.empty(); }
};

}  // namespace hostir::model

namespace hostir::diagnose {

model::WaitGraph wait_graph(const model::Run& run);
/// The first that holds: members of a meeting that disagree; a run that is stuck, with the ranks at
/// fault or the shortest cycle; nothing. A run that moves, or of which that is not known, is
/// accused of nothing but a mismatch that its members' own calls prove.
model::Verdict diagnose(const model::Run& run);

}  // namespace hostir::diagnose
