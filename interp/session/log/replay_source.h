// A past run: its log, and contents that the log did not keep.
//
// Implemented by sessions, and by logs opened only for comparison.
// Threads: both functions may be called from any thread, concurrently with everything else.
#pragma once

#include <stop_token>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/values/value_query.h"

namespace hostir::interp {

class LogView;

class ReplaySource {
 public:
  virtual ~ReplaySource() = default;

  /// The log of this run; null only if it could not be created at the start.
  virtual const LogView* log() const = 0;

  /// What these writes left, recomputed by running the program again from the log (slow). `take` is
  /// called on this thread, in order of completion. Writes that do not occur again are left out.
  /// Errors: those of the run; `replay_differs` if it deviates from the log; `log_cancelled` when
  /// `stop` is requested.
  virtual Expected<void> past_contents(const std::vector<PastWrite>& writes,
                                       const TakeContents& take, std::stop_token stop) const;
};

}  // namespace hostir::interp
