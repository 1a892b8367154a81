// The events that the interpreter sends to a log while a program runs.
//
// The interpreter calls these from its own thread. An implementation must be fast (a ring buffer)
// and may block only when its ring is full. Records are plain numbers; names are resolved through
// Code. `issued` and `finished` are separate because device times arrive late.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/backend.h"
#include "interp/core/decision_record.h"
#include "interp/core/fault_record.h"
#include "interp/core/ids.h"
#include "interp/model/run.h"

namespace hostir::interp {

/// One executed host instruction on one rank. The members of a `group { }` precede the group's
/// record; they have communicator and sequence number, but no task.
struct IssuedRecord {
  uint64_t decision = 0;  // number of the decision that executed it
  uint32_t branch = 0;
  Rank rank = 0;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  StreamIndex stream = kNoStream;  // for asynchronous instructions
  TaskId task = kNoTask;           // for asynchronous instructions
  int64_t host_start_ns = 0;       // virtual or host clock
  int64_t host_end_ns = 0;
  int64_t waited_ns = 0;       // for `wait ... on host`
  TaskId waits_for = kNoTask;  // for `wait`: the event's task; kNoTask: `none`
  int64_t bytes = 0;      // alloc, free: size; collectives: bytes per rank as nccl-tests counts
  uint64_t sequence = 0;  // collectives
  CommIndex comm = kNoComm;
  int32_t peer = -1;  // send, recv: position of the peer
};

/// A member's communication call, sent before the IssuedRecord of the same rank.
struct CallRecord {
  Rank rank = 0;
  int32_t root = -1;         // position; -1: no root
  int64_t total_elems = -1;  // whole operation; -1: unknown
  int64_t row_elems = -1;    // per index of dimension 0 of the whole; -1: unknown
  uint64_t fingerprint = 0;  // hash of everything that all members must agree on
  friend bool operator==(const CallRecord&, const CallRecord&) = default;
};

/// A rank's host position, sent when a run ends or cannot continue.
struct RankStateRecord {
  Rank rank = 0;
  model::RankState state = model::RankState::kUnknown;
  CodeIndex code = 0;  // its next instruction
  LoopPathId loop_path = 0;
  TaskId waits_for = kNoTask;  // kBlocked
  int64_t host_ns = 0;
  uint64_t decision = 0;  // number of decisions taken
  uint32_t branch = 0;
};

struct FinishedRecord {
  Rank rank = 0;
  TaskId task = kNoTask;
  int64_t queued_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int64_t live_bytes = -1;  // the rank's, after an alloc or free took effect
  ClockDomain clock = ClockDomain::kVirtual;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Sent before `issued`, for communication only.
  virtual void called(const CallRecord&) {}
  virtual void issued(const IssuedRecord& record) = 0;
  virtual void finished(const FinishedRecord& record) = 0;
  virtual void value(const ValueSummary& summary) = 0;
  virtual void decision(const DecisionRecord& record) = 0;
  virtual void fault(const FaultRecord& record) = 0;
  /// Sent for every rank, before a fault that ends the run, at the end of the run, and after a
  /// second without a completion.
  virtual void rank_state(const RankStateRecord&) {}
  /// A loop path the first time it is used: (id, parent, the `for` instruction, iteration).
  virtual void loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) = 0;
};

}  // namespace hostir::interp
