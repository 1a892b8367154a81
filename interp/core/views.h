// Views of a run between two decisions: plain values for snapshots, scripts and tests.
//
// All are copies, or point into Code and tables that live as long as the interpreter; none changes
// later. Absent here: contents of buffers (Backend::read).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/backend.h"
#include "interp/core/code.h"
#include "interp/core/ids.h"

namespace hostir::interp {

enum class RankStatus : uint8_t {
  kRunnable,
  kBlocked,     // `wait ... on host` for an unfinished task
  kDone,        // returned
  kNotStarted,  // not in InterpreterOptions::ranks
  kRemote,      // in another process
  // In recordings only:
  kDead,     // its process ended before it was done
  kUnknown,  // not recorded
};
/// The rank will take no more decisions, or never takes one here.
constexpr bool is_over(RankStatus status) {
  return status != RankStatus::kRunnable && status != RankStatus::kBlocked;
}

struct RankView {
  RankStatus status = RankStatus::kRunnable;
  bool frozen = false;
  CodeIndex code = 0;  // next instruction; the `return` when done
  LoopPathId loop_path = 0;
  int64_t clock_ns = 0;
  uint64_t steps = 0;          // decisions of this rank so far
  TaskId waits_for = kNoTask;  // kBlocked
  int64_t outstanding = 0;     // unfinished tasks on all streams
};

struct TaskView {
  TaskId id = kNoTask;
  Rank rank = 0;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  StreamIndex stream = 0;
  int64_t issued_ns = 0;
  bool finished = false;
  int64_t started_ns = 0;   // valid when finished
  int64_t finished_ns = 0;  // valid when finished
};

struct AllocationView {
  AllocationId id;
  Rank rank = 0;
  int64_t bytes = 0;
  const Placement* placement = nullptr;  // current layout
  LayoutIndex layout = kNoLayout;        // current layout in Code, if static
  uint32_t reg = kNoRegister;            // the name it was made under
  uint64_t version = 0;                  // number of writes issued to it
  bool parameter = false;
  bool writable = true;
  bool initialised = false;    // every byte was written by an issued task or bound
  CodeIndex allocated_by = 0;  // not for parameters
  CodeIndex written_by = 0;    // the last writer, if version > 0
  TaskId written_task = kNoTask;
};

/// One rank's side of a collective (or of a send/recv).
struct ArrivalView {
  Rank rank = 0;
  bool arrived = false;  // issued
  bool queued = false;   // issued, but other work of its stream comes first
  bool finished = false;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  TaskId task = kNoTask;
  StreamIndex stream = 0;
  OpKind kind = OpKind::all_reduce;
  DType dtype = DType::kF32;
  Reduction reduction = Reduction::kSum;
  int32_t root = -1;
  int64_t count_elems = 0;  // whole operation
  int64_t local_elems = 0;  // this rank's block
  int64_t arrived_ns = 0;   // host clock at issue
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  std::string fingerprint;  // `all_reduce sum f32[4]`
};

/// One row of the ledger: what the members of one group issued under one sequence number.
struct MeetingView {
  CommIndex comm = 0;
  uint32_t group = 0;
  uint64_t sequence = 0;
  bool point_to_point = false;  // send/recv: two arrivals, `sequence` is the ordinal of the pair
  bool complete = false;        // all issued it
  bool finished = false;
  bool mismatch = false;
  std::vector<ArrivalView> arrivals;  // in group order; send before recv
};

}  // namespace hostir::interp
