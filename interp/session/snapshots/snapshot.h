// What a session shows: one immutable snapshot of a run at one position.
//
// Windows, the terminal debugger and scripts read only snapshots. A snapshot can be kept, handed to
// another thread and compared with a later one. It contains readable text (addresses, names,
// sentences) as well as ids. Creating one is cheap: parts that have not changed since the last
// snapshot are shared. Absent: tensor contents, which are read on demand through `Session::read`,
// and the past, which is in the log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/model/run.h"
#include "interp/session/prepare/program_view.h"
#include "interp/session/snapshots/breakpoint_snapshot.h"
#include "interp/session/snapshots/ledger_snapshot.h"
#include "interp/session/snapshots/memory_snapshot.h"
#include "interp/session/snapshots/rank_snapshot.h"
#include "interp/session/snapshots/waits_snapshot.h"

namespace hostir::interp {

/// A state of the run: the number of decisions taken, on one branch of the history.
struct Position {
  uint64_t decision = 0;
  uint32_t branch = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

enum class StopKind : uint8_t {
  kStart,        // nothing has run yet
  kStep,         // the requested step is done
  kBreakpoint,   // `StopReason::breakpoint` was hit
  kArrived,      // `until`, `goto`: the place was reached
  kFinished,     // all ranks finished and all streams drained
  kFault,        // mismatch, use after free, unexpected NaN, ...
  kDeadlock,     // nothing can move
  kBegin,        // a reverse command reached the start of the history
  kNobodyMoves,  // the ranks to move are blocked or frozen; others could move
  kInterrupted,  // stop was requested, or a limit on steps or memory was reached
};

struct StopReason {
  StopKind kind = StopKind::kStart;
  std::string sentence;     // one English sentence, with a full stop
  Rank rank = kNoRank;      // the rank that caused it, if any
  uint32_t breakpoint = 0;  // number of the breakpoint, 0 = none
  bool wrong = false;       // the run finished, but with an error that did not stop it
  // For stops at a write (a watch, NaN): the value written and its writer.
  std::string value;             // without '%'; empty: another kind of stop
  std::vector<int64_t> element;  // global index: the watched element, or the first NaN or Inf
  CodeIndex code = kNoCode;      // the instruction that wrote it
};

/// A fault and where it was found.
struct FaultSnapshot {
  std::string kind;  // "deadlock", "collective_mismatch", "use_after_free", ...
  std::string sentence;
  std::vector<Rank> ranks;
  std::vector<std::string> instructions;  // `@f#9`; parallel to `ranks` if equally long
  std::vector<std::string> notes;
  Position position;
  Severity severity = Severity::kError;  // a warning does not fail the run
};

struct Snapshot {
  Position position;
  uint64_t last_decision = 0;  // of this branch: the end of the known history
  StopReason stop;
  Rank focus = 0;                // the rank used by commands that name none
  std::vector<Rank> step_scope;  // the ranks that a step moves; empty: all
  int64_t now_ns = 0;            // device time so far (virtual, or since the run's origin)
  std::string no_stepping;       // why nothing can run here (a log whose program cannot be prepared
                                 // again); empty: it can
  bool from_log = false;         // made from the log alone: the first move runs the program to here

  std::shared_ptr<const ProgramView> program;
  std::vector<std::shared_ptr<const RankSnapshot>> ranks;     // by rank
  std::vector<std::shared_ptr<const MemorySnapshot>> memory;  // by rank
  std::shared_ptr<const std::vector<LedgerRow>> ledger;       // by (communicator, group, seq)
  std::shared_ptr<const WaitsSnapshot> waits;
  std::shared_ptr<const std::vector<FaultSnapshot>> faults;
  std::shared_ptr<const std::vector<BreakpointSnapshot>> breakpoints;  // by number
  std::shared_ptr<const model::Run> run;  // what is known about the run, for verdicts

  int32_t rank_count() const { return static_cast<int32_t>(ranks.size()); }
  const RankSnapshot& rank(Rank r) const { return *ranks[static_cast<size_t>(r)]; }
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace hostir::interp
