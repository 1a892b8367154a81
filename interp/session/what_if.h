// "What if": small edits of a program that hangs, each tried in a run of its own.
//
// From the state of a deadlock or mismatch, edits of the program's text are proposed: another order
// of two calls, a group around them, a call that some ranks miss, one that is too many, a field
// made as the others have it, a wait less or later. Each is parsed, checked and run from the start,
// all ranks taking part, on the same meshes and inputs; nothing of the session is touched. The
// search is bounded in runs, host instructions and seconds; what was not tried is said. No edit is
// made for a known program: whatever the text is, proposals follow from where its ranks stand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/engine.h"
#include "interp/session/line_edit.h"
#include "interp/session/snapshot.h"

namespace hostir::interp {

/// A changed program.
struct WhatIfEdit {
  std::string sentence;  // "Put send %c and recv %c into one group, lines 60-61."
  std::string text;      // the whole file
  std::vector<DiffLine> diff;
  size_t size = 0;    // lines touched (line_edit.h)
  size_t weight = 0;  // by which it is ranked: `size`, more where it takes communication away
  size_t line = 0;    // 1-based, of the new text: where it begins
  /// While it is searched: of each line the one that it was (LineEdit::origins).
  std::vector<size_t> origins;
};

/// What the file's own tests of the function say about a changed text.
struct WhatIfClaims {
  size_t tests = 0;
  size_t failed = 0;
  std::vector<std::string> failures;  // one line each
};
/// Runs the tests of a text that run `function` and expect no fault. Called on the searching
/// thread.
using CheckClaims = std::function<WhatIfClaims(const std::string& text, const std::string& function,
                                               std::stop_token stop)>;

struct WhatIfTrial {
  enum class Verdict : uint8_t {
    kCompletes,
    kHangs,     // a deadlock, there or elsewhere
    kMismatch,  // calls that do not fit each other
    kFault,     // another error of the run: a race, a read of nothing, ...
    kRefused,   // the text is no program
    kTooLong,   // more instructions or seconds than a trial may take
  };
  WhatIfEdit edit;
  Verdict verdict = Verdict::kRefused;
  std::string why;  // one sentence; empty where it completes without anything to say
  std::vector<std::string> warnings;  // of a run that completes: leaks, replicas that differ
  WhatIfClaims claims;                // of one that completes
  /// Completes, without warnings, and what the tests claim holds.
  bool good() const {
    return verdict == Verdict::kCompletes && warnings.empty() && claims.failed == 0;
  }
};
/// `completes`, `hangs`, ...
std::string_view name(WhatIfTrial::Verdict verdict);

struct WhatIfProgress {
  size_t tried = 0;
  size_t proposed = 0;   // so far; a second round adds to it
  size_t completes = 0;  // found so far
};

struct WhatIfOptions {
  size_t max_trials = 300;
  double max_seconds = 60;        // of the whole search
  double max_trial_seconds = 10;  // of one run
  size_t enough = 6;              // edits that complete, after which the search ends
  CheckClaims check_claims;       // may be empty
  std::function<void(const WhatIfProgress&)> progress;  // on the searching thread; may be empty
  std::stop_token stop;
};

struct WhatIf {
  std::string stop;                 // what the run stopped with
  std::string conclusion;           // one or two sentences
  std::vector<WhatIfTrial> trials;  // those that complete first, smallest edit first
  size_t completes = 0;             // the first ones of `trials`
  size_t proposed = 0;
  bool unchanged_completes = false;  // it runs to the end as it is: ranks were held
  bool cancelled = false;
  /// The text that edits are of stands in the user's file; else it is the lowered text.
  bool of_given = false;
  /// The text was printed anew first, as several instructions stood on one line.
  bool reformatted = false;
  /// One sentence on what the text allocates and never frees, with an edit or without, which is no
  /// warning of an edit; empty: nothing.
  std::string leaks;
  std::string file;  // its name
};

/// What runs are made from; all of it may be shared with other threads.
struct WhatIfRun {
  std::shared_ptr<const Prepared> prepared;
  BackendFactory make_backend;
  BackendRequest backend;
};

/// True where the run stands at a deadlock or a mismatch, which is when there is something to try,
/// and where nobody can move and ranks are frozen: it may hang without that as well.
bool can_ask_what_if(const Snapshot& shot);

/// `shot`: the stop, of a run of `run.prepared`. Errors: `what_if` (nothing hangs here), and those
/// of a text that cannot be read again.
Expected<WhatIf> what_if(const WhatIfRun& run, const Snapshot& shot, const WhatIfOptions& options);

/// The answer as text for a terminal: the conclusion, then each edit that completes with its diff;
/// of the others how many there are by verdict, with the smallest of each. Ends with a newline.
std::string to_text(const WhatIf& result);

}  // namespace hostir::interp
