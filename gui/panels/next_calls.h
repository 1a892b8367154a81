// What a rank would call next on a communicator, were it let go: read from the program, not run.
//
// Starts at the rank's program counter with the loops that it is in. Conditions and bounds that
// depend on the rank and on loop variables are known; where one depends on what the host reads
// while it runs, the walk ends. No session and no log are asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

struct NextCalls {
  std::vector<interp::CodeIndex> calls;  // in the order of issue
  /// False: it ends where the program is not decided yet, or at the limit; more may follow.
  bool whole = false;
};

/// At most `count` communication instructions on `comm` that `rank` has not issued yet.
NextCalls next_calls(const interp::Snapshot& shot, interp::Rank rank, interp::CommIndex comm,
                     size_t count);

/// The call as a collective's fingerprint, from the program: `all_reduce sum f32[4]`; sizes that
/// are not known read `?`.
std::string call_text(const interp::Code& code, interp::CodeIndex call, interp::Rank rank);

/// The condition of a `where` on a rank; nothing where it is only known when it runs.
std::optional<bool> where_holds(const interp::Code& code, interp::CodeIndex where,
                                interp::Rank rank);

}  // namespace hostir::gui
