// What a session shows: one immutable picture of a run at one position.
//
// Windows, the terminal debugger and scripts read snapshots and nothing else; a snapshot can be
// kept, handed to another thread and compared with a later one. It says everything in terms that a
// person reads (addresses, names, sentences) beside the ids. Making one is cheap: parts that did
// not change since the last snapshot are the same shared objects. Absent: tensor contents, which
// are read through `Session::read` on demand, and the past, which is in the log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/model/run.h"
#include "interp/session/breakpoint_snapshot.h"
#include "interp/session/ledger_snapshot.h"
#include "interp/session/memory_snapshot.h"
#include "interp/session/program_view.h"
#include "interp/session/rank_snapshot.h"
#include "interp/session/waits_snapshot.h"

namespace hostir::interp {

/// A state of the run: the number of decisions made, on one branch of the history.
struct Position {
  uint64_t decision = 0;
  uint32_t branch = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

enum class StopKind : uint8_t {
  kStart,        // nothing ran yet
  kStep,         // the step asked for is done
  kBreakpoint,   // `StopReason::breakpoint` was hit
  kArrived,      // `until`, `goto`: the place was reached
  kFinished,     // all ranks finished and all streams drained
  kFault,        // mismatch, use after free, NaN where one was not wanted, ...
  kDeadlock,     // nothing can move
  kBegin,        // a reverse command came to the start of the history
  kNobodyMoves,  // the ranks that were to move are blocked or frozen; others could move
  kInterrupted,  // stop was requested, or a limit on steps or memory was reached
};

struct StopReason {
  StopKind kind = StopKind::kStart;
  std::string sentence;     // one English sentence, with a full stop
  Rank rank = kNoRank;      // who caused it, if one rank did
  uint32_t breakpoint = 0;  // number of the breakpoint, 0 = none
  // Stops at a write (a watch, NaN): what was written and by whom.
  std::string value;             // without '%'; empty: another kind of stop
  std::vector<int64_t> element;  // global index: the watched one, or the first NaN or Inf
  CodeIndex code = kNoCode;      // the instruction that wrote it
};

/// A fault with the place where it was found.
struct FaultSnapshot {
  std::string kind;  // "deadlock", "collective_mismatch", "use_after_free", ...
  std::string sentence;
  std::vector<Rank> ranks;
  std::vector<std::string> instructions;  // `@f#9`, aligned with `ranks` where they are as many
  std::vector<std::string> notes;
  Position position;
  Severity severity = Severity::kError;  // a leak is a warning
};

/// How far a shown value is to be trusted (DESIGN invariant 10).
enum class Origin : uint8_t { kLive, kRecorded, kRecomputed, kUnavailable };

struct Snapshot {
  Position position;
  uint64_t last_decision = 0;  // of this branch: how far forward the history is known
  StopReason stop;
  Rank focus = 0;                // the rank that commands without a rank mean
  std::vector<Rank> step_scope;  // the ranks that a step moves; empty: all
  int64_t now_ns = 0;            // device time reached (virtual or since the run's origin)
  Origin origin = Origin::kLive;
  bool can_reverse = true;
  std::string no_stepping;  // why nothing can run here: a log whose program cannot be prepared
                            // again; empty: it can

  std::shared_ptr<const ProgramView> program;
  std::vector<std::shared_ptr<const RankSnapshot>> ranks;     // by rank
  std::vector<std::shared_ptr<const MemorySnapshot>> memory;  // by rank
  std::shared_ptr<const std::vector<LedgerRow>> ledger;       // by (communicator, group, seq)
  std::shared_ptr<const WaitsSnapshot> waits;
  std::shared_ptr<const std::vector<FaultSnapshot>> faults;
  std::shared_ptr<const std::vector<BreakpointSnapshot>> breakpoints;  // by number
  std::shared_ptr<const model::Run> run;  // what is known, for verdicts

  int32_t rank_count() const { return static_cast<int32_t>(ranks.size()); }
  const RankSnapshot& rank(Rank r) const { return *ranks[static_cast<size_t>(r)]; }
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace hostir::interp
