// The comparison of two runs as lines of text: `hostir diff` prints what the window draws.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {

/// |a - b| <= absolute + relative * |b|. With 0, elements must be equal (NaN equals NaN, +0 equals
/// -0).
struct DiffTolerance {
  double absolute = 0;
  double relative = 0;
};

struct DiffReport {
  std::vector<std::string> notes;        // facts that explain differences
  std::vector<std::string> differences;  // empty: equal
};
/// One line per fact, and one per tensor: its first write outside of the tolerance. Writes whose
/// contents are not available are compared by digest, and a note says so. Errors: `log_cancelled`.
Expected<DiffReport> report(const RunDiff& diff, const DiffTolerance& tolerance,
                            const std::stop_token& stop);

}  // namespace hostir::interp
