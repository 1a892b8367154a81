// Two runs compared, in lines: what `hostir diff` prints of what the window draws.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {

/// |a - b| <= absolute + relative * |b|; 0: NaN equals NaN and +0 equals -0, nothing else.
struct DiffTolerance {
  double absolute = 0;
  double relative = 0;
};

struct DiffReport {
  std::vector<std::string> notes;        // what explains differences without being one
  std::vector<std::string> differences;  // empty: equal
};
/// One line per fact, and one per tensor: its first write outside of the tolerance. Writes whose
/// contents cannot be had are compared by their digests, which a note says. Errors:
/// `log_cancelled`.
Expected<DiffReport> report(const RunDiff& diff, const DiffTolerance& tolerance,
                            const std::stop_token& stop);

}  // namespace hostir::interp
