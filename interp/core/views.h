// Views of a run between two decisions: plain values for snapshots, scripts and tests.
//
// All are copies, or point into Code and tables that live as long as the interpreter; none changes
// later, except for what a MeetingView points to. Tasks are shown as the engine keeps them
// (TaskRecord). Absent here: contents of buffers (Backend::read).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/core/ids.h"
#include "interp/core/ledger.h"

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

/// One row of the ledger: what the members of one group issued under one sequence number.
struct MeetingView {
  CommIndex comm = 0;
  uint64_t sequence = 0;
  bool point_to_point = false;  // send/recv: two members, `sequence` is the ordinal of the pair
  bool complete = false;        // all issued it
  bool finished = false;
  bool mismatch = false;
  /// In group order; send before recv. Valid until the next decision.
  std::vector<std::pair<Rank, const Arrival*>> members;
};

}  // namespace hostir::interp
