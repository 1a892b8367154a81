// A session: a run, live or recorded, that accepts commands and can be inspected.
//
// Everything that a button or a typed line does is a `Command`. Everything displayed is a
// `Snapshot`, a `ValueReading` or comes from the `LogView`. A session always has a log.
// Threads: `execute` and `read` are called from one thread at a time (a window's worker); snapshots
// and the log may be used from any. When the token requests it, `execute` ends early, after a
// complete decision.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/history/log_lines.h"
#include "interp/core/history/rank_move.h"
#include "interp/session/commands/command.h"
#include "interp/session/inside/inside.h"
#include "interp/session/log/replay_source.h"
#include "interp/session/snapshots/snapshot.h"
#include "interp/session/values/value_query.h"

namespace hostir::interp {

/// The result of a command.
struct Outcome {
  std::string text;                // output of info, print, help, ...; empty for others
  StopReason stop;                 // for commands that run
  std::vector<RankMove> moved;     // ranks that moved, in order
  std::vector<LogLine> logged;     // of log points that were passed: the newest, in order
  int64_t log_dropped = 0;         // number of earlier lines that are not kept
  uint64_t log_from = UINT64_MAX;  // lines of earlier commands after this position were taken back
  bool ran = false;                // the position may have changed
  bool quit = false;
};

/// What Session::follow found when it read the end of the log again.
enum class FollowedLog : uint8_t {
  kSame,
  kNewer,  // the snapshot is that of the log's newest end
  kEnded,  // its writer has ended: opening the log again shows its outcome
};

struct WhatIf;         // what_if.h
struct WhatIfOptions;  // what_if.h

class Session : public ReplaySource {
 public:
  /// Executes one command. Errors (kUsage with a caret into the command's text, or kRuntime) leave
  /// the state unchanged. A fault or deadlock of the program is not an error but the stop reason.
  virtual Expected<Outcome> execute(const Command& command, std::stop_token stop) = 0;

  /// The current snapshot; never null.
  virtual SnapshotPtr snapshot() const = 0;

  /// Current contents. Errors: unknown value, not allocated on that rank, freed, box out of range.
  virtual Expected<ValueReading> read(const ValueQuery& query) = 0;

  /// A session that shows the end of a log that another process writes: moves on to its newest
  /// end. Errors: those of reading the log.
  virtual Expected<FollowedLog> follow() { return FollowedLog::kSame; }

  /// How an instruction computes one element that it writes.
  /// Errors: `not_written`, `not_held`, `no_inside` if nothing runs (a log without a program).
  virtual Expected<Inside> inside(const InsideQuery& query);

  /// The values of one element after each of its writes, recomputed by running the program again
  /// from the log (slow). May be called from any thread, concurrently with the other functions.
  /// Errors: those of the run; `log_cancelled` when `stop` is requested.
  virtual Expected<std::vector<PastValue>> past_values(const PastQuery& query,
                                                       std::stop_token stop) const = 0;

  /// Small edits of the program that is stuck at `shot`, each tried in a run of its own
  /// (what_if.h); slow. May be called from any thread, concurrently with the other functions; the
  /// session does not move.
  /// Errors: `what_if` if nothing hangs, or if this session runs nothing.
  virtual Expected<WhatIf> what_if(const Snapshot& shot, const WhatIfOptions& options) const;
};

}  // namespace hostir::interp
