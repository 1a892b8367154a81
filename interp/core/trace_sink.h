// What is told to a log while a program runs.
//
// The interpreter calls these from its own thread; an implementation must be quick (a ring buffer)
// and may only block when its ring is full. Records are plain numbers; names are resolved through
// Code. `issued` and `finished` are separate because device times come late.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "interp/core/backend.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// One executed host instruction on one rank. The members of a `group { }` come before the record
/// of the group, with communicator and sequence number but without a task.
struct IssuedRecord {
  uint64_t decision = 0;  // number of the decision that ran it
  uint32_t branch = 0;
  Rank rank = 0;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  StreamIndex stream = kNoStream;  // of asynchronous instructions
  TaskId task = kNoTask;           // of asynchronous instructions
  int64_t host_start_ns = 0;       // virtual or host clock
  int64_t host_end_ns = 0;
  int64_t waited_ns = 0;       // of `wait ... on host`
  TaskId waits_for = kNoTask;  // of `wait`: the event's task; kNoTask: `none`
  int64_t bytes = 0;      // alloc, free: size; collectives: bytes per rank as nccl-tests counts
  uint64_t sequence = 0;  // collectives
  CommIndex comm = kNoComm;
  int32_t peer = -1;  // send, recv: position of the other side
};

struct FinishedRecord {
  Rank rank = 0;
  TaskId task = kNoTask;
  int64_t queued_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int64_t live_bytes = -1;  // of the rank after an alloc or free took effect
};

/// A decision that is not "rank r runs one instruction": freeze, thaw, edit, branch, schedule.
struct DecisionRecord {
  enum class Kind : uint8_t { kRun, kFreeze, kThaw, kEdit, kBranch } kind = Kind::kRun;
  uint64_t number = 0;
  uint32_t branch = 0;
  Rank rank = kNoRank;
  std::string detail;  // kEdit: what was written
};

struct FaultRecord {
  std::string kind;      // "deadlock", "collective_mismatch", "race_raw", "leak", ...
  std::string sentence;  // what is shown
  std::vector<Rank> ranks;
  std::vector<std::string> instructions;  // addresses, `@f#9`
  std::vector<std::string> notes;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void issued(const IssuedRecord& record) = 0;
  virtual void finished(const FinishedRecord& record) = 0;
  virtual void value(const ValueSummary& summary) = 0;
  virtual void decision(const DecisionRecord& record) = 0;
  virtual void fault(const FaultRecord& record) = 0;
  /// A loop path the first time it is used: (id, parent, the `for` instruction, iteration).
  virtual void loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) = 0;
};

}  // namespace hostir::interp
