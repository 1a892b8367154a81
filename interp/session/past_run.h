// A run as something to look back at: its log, and contents that the log did not keep.
//
// Sessions are one; so is a log that is only compared with. Threads: both functions may be called
// from any thread, beside everything else.
#pragma once

#include <stop_token>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/value_query.h"

namespace hostir::interp {

class LogView;

class PastRun {
 public:
  virtual ~PastRun() = default;

  /// The log of this run; null only where making one failed at the start.
  virtual const LogView* log() const = 0;

  /// What these writes left, by running the program again from the log, which is slow; `take` is
  /// called on this thread, in order of completion. A write that does not happen again is left out.
  /// Errors: those of the run, `replay_differs` where it is not what was logged; `stop` ends it
  /// with `log_cancelled`.
  virtual Expected<void> past_contents(const std::vector<PastWrite>& writes,
                                       const TakeContents& take, std::stop_token stop) const;
};

}  // namespace hostir::interp
