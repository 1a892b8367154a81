// A tensor of a log, for numpy: a rank's part, or the whole from all parts.
#pragma once

#include <optional>
#include <string>

#include "traces/reader/log_reader.h"

namespace hostir::traces {

struct ExportedValue {
  Tensor tensor;
  std::string note;  // what replicas disagree on; empty: nothing
};

/// The last contents of the tensor `name` (without '%') that the log kept. Without a rank, every
/// rank's part goes to its place, and partial sums are added up (interp/session/values/assemble.h).
/// Errors: `log_no_data`.
Expected<ExportedValue> exported_value(const LogReader& log, const std::string& name,
                                       std::optional<interp::Rank> rank);

}  // namespace hostir::traces
