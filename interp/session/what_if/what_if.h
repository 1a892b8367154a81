// "What if": small edits of a program that hangs, each tried in a run of its own.
//
// From the state of a deadlock, a mismatch or a race, it proposes edits of the program's text:
// another order of two calls, a group around them, an added or removed call, a field changed to the
// other ranks' value, a wait added, removed or moved. Each edit is parsed, checked and run from the
// start with all ranks, on the same meshes and inputs; the session is not affected. The search is
// bounded in runs, host instructions and seconds, and reports what was not tried. Proposals depend
// only on where the ranks are stuck, never on a particular program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/prepare/prepared_run.h"
#include "interp/session/snapshots/snapshot.h"
#include "interp/session/what_if/line_edit.h"

namespace hostir::interp {

/// An edited program.
struct WhatIfEdit {
  std::string sentence;  // "Put send %c and recv %c into one group, lines 60-61."
  std::string text;      // the whole file
  std::vector<DiffLine> diff;
  size_t size = 0;    // lines touched (line_edit.h)
  size_t weight = 0;  // ranking: `size`, plus a penalty for removed communication
  size_t line = 0;    // 1-based line of the new text where the edit begins
  /// During the search: the original line of each line (LineEdit::origins).
  std::vector<size_t> origins;
};

/// Results of the file's own tests of the function, for an edited text.
struct WhatIfClaims {
  size_t tests = 0;
  size_t failed = 0;
  std::vector<std::string> failures;  // one line each
};
/// Runs the tests of a text that run `function` and expect no fault. Called on the search thread.
using CheckClaims = std::function<WhatIfClaims(const std::string& text, const std::string& function,
                                               std::stop_token stop)>;

struct WhatIfTrial {
  enum class Verdict : uint8_t {
    kCompletes,
    kHangs,     // a deadlock, in the same place or elsewhere
    kMismatch,  // calls that do not match
    kFault,     // another error: a race, an uninitialised read, ...
    kRefused,   // the text does not compile
    kTooLong,   // exceeds the limits on instructions or seconds
  };
  WhatIfEdit edit;
  Verdict verdict = Verdict::kRefused;
  std::string why;                    // one sentence; may be empty if it completes
  std::vector<std::string> warnings;  // if it completes: leaks, differing replicas
  WhatIfClaims claims;                // if it completes
  /// It completes without warnings and passes the tests.
  bool good() const {
    return verdict == Verdict::kCompletes && warnings.empty() && claims.failed == 0;
  }
};
/// `completes`, `hangs`, ...
std::string_view name(WhatIfTrial::Verdict verdict);

struct WhatIfProgress {
  size_t tried = 0;
  size_t proposed = 0;   // so far; a second round adds more
  size_t completes = 0;  // found so far
};

struct WhatIfOptions {
  size_t max_trials = 300;
  double max_seconds = 60;        // for the whole search
  double max_trial_seconds = 10;  // for one run
  size_t enough = 6;              // completing edits after which the search ends
  CheckClaims check_claims;       // may be empty
  std::function<void(const WhatIfProgress&)> progress;  // called on the search thread; may be empty
  std::stop_token stop;
};

struct WhatIf {
  std::string stop;                 // why the run stopped
  std::string conclusion;           // one or two sentences
  std::vector<WhatIfTrial> trials;  // completing ones first, smallest edit first
  size_t completes = 0;             // at the front of `trials`
  size_t proposed = 0;
  bool unchanged_completes = false;  // it completes without an edit: ranks were frozen
  bool cancelled = false;
  /// True if edits apply to the user's file, otherwise they apply to the lowered text.
  bool of_given = false;
  /// The text was reprinted first, because several instructions shared a line.
  bool reformatted = false;
  /// One sentence on buffers that the text never frees, edited or not; they are not held against an
  /// edit. Empty if there are none.
  std::string leaks;
  std::string file;  // name of the file
};

/// The inputs of the trial runs; all of it may be shared with other threads.
struct WhatIfRun {
  std::shared_ptr<const Prepared> prepared;
  BackendFactory make_backend;
  BackendRequest backend;
};

/// True if the run is stopped at a deadlock or a mismatch, or if a race was found. Also true if no
/// rank can move and some are frozen: it may hang even without the freeze.
bool can_ask_what_if(const Snapshot& shot);

/// `shot`: the stop of a run of `run.prepared`.
/// Errors: `what_if` (nothing hangs here); those of a text that cannot be parsed again.
Expected<WhatIf> what_if(const WhatIfRun& run, const Snapshot& shot, const WhatIfOptions& options);

/// Text for a terminal: the conclusion, then each completing edit with its diff; for the others
/// their number by verdict, with the smallest of each. Ends with a newline.
std::string to_text(const WhatIf& result);

}  // namespace hostir::interp
