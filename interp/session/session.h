// A session: a run that can be commanded and looked at, live or recorded alike.
//
// Everything that a button or a typed line does is a `Command`; everything that is shown is a
// `Snapshot`, a `ValueReading` or comes from the `LogView`. A session always has a log. Threads:
// `execute` and `read` are called from one thread at a time (a window's worker); snapshots and the
// log may be used from any. `execute` ends early, at a whole decision, when the token asks for it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/log_lines.h"
#include "interp/session/command.h"
#include "interp/session/inside.h"
#include "interp/session/past_run.h"
#include "interp/session/snapshot.h"
#include "interp/session/value_query.h"

namespace hostir::interp {

/// How many host instructions a rank moved by a command; negative: backwards.
struct RankMove {
  Rank rank = 0;
  int64_t steps = 0;
};

/// What a command did.
struct Outcome {
  std::string text;             // the answer of info, print, help, ...; empty for others
  StopReason stop;              // of commands that run
  std::vector<RankMove> moved;  // ranks that moved, in order
  std::vector<LogLine> logged;  // by log points that were passed, oldest first: the newest of them
  int64_t log_dropped = 0;      // lines before those, which are not kept
  uint64_t log_from = UINT64_MAX;  // lines of earlier commands that lie behind this position were
                                   // taken back
  bool ran = false;                // the position may have changed
  bool quit = false;
};

struct WhatIf;         // what_if.h
struct WhatIfOptions;  // what_if.h

class Session : public PastRun {
 public:
  /// Carries out one command. Errors (kUsage with a caret into the command's text, or kRuntime)
  /// leave the state as it was. A fault or deadlock of the program is not an error of the command:
  /// it is the reason why it stopped.
  virtual Expected<Outcome> execute(const Command& command, std::stop_token stop) = 0;

  /// The current picture; never null.
  virtual SnapshotPtr snapshot() const = 0;

  /// Contents now. Errors: unknown value, not allocated on that rank, freed, box out of range.
  virtual Expected<ValueReading> read(const ValueQuery& query) = 0;

  /// What happens inside an instruction for one element that it writes. Errors: `not_written`,
  /// `not_held`, `no_inside` where nothing runs (a log alone).
  virtual Expected<Inside> inside(const InsideQuery& query);

  /// What every write of one element left in it, by running the program again from the log; slow.
  /// May be called from any thread, beside the other functions. Errors: those of the run; `stop`
  /// ends it with `log_cancelled`.
  virtual Expected<std::vector<PastValue>> past_values(const PastQuery& query,
                                                       std::stop_token stop) const = 0;

  /// Small edits of the program, which stands stuck at `shot`, each tried in a run of its own
  /// (what_if.h); slow. May be called from any thread, beside the other functions; nothing here
  /// moves. Errors: `what_if` where nothing hangs, or this session runs nothing.
  virtual Expected<WhatIf> what_if(const Snapshot& shot, const WhatIfOptions& options) const;
};

}  // namespace hostir::interp
