#include "interp/session/checks/buffer_sweep.h"

#include <algorithm>

namespace hostir::interp {

Expected<BufferSweep> sweep_buffers(
    const std::function<Expected<RunResult>(int64_t p2p_buffer_bytes)>& run) {
  BufferSweep out;
  const auto hangs_with = [&](int64_t bytes) -> Expected<bool> {
    ++out.runs;
    HOSTIR_ASSIGN_OR_RETURN(const RunResult result, run(bytes));
    return std::any_of(result.faults.begin(), result.faults.end(), [](const Fault& fault) {
      return fault.severity == Severity::kError && fault.record.kind == "deadlock";
    });
  };
  constexpr int64_t kAnySize = int64_t{1} << 50;  // more than all ranks have
  HOSTIR_ASSIGN_OR_RETURN(const bool hangs_without, hangs_with(0));
  if (!hangs_without) {
    out.least_bytes = 0;
    return out;
  }
  HOSTIR_ASSIGN_OR_RETURN(const bool hangs_always, hangs_with(kAnySize));
  if (hangs_always) return out;
  int64_t hangs = 0;
  int64_t completes = 1;
  while (completes < kAnySize) {
    HOSTIR_ASSIGN_OR_RETURN(const bool stuck, hangs_with(completes));
    if (!stuck) break;
    hangs = completes;
    completes *= 2;
  }
  while (completes - hangs > 1) {
    const int64_t middle = hangs + (completes - hangs) / 2;
    HOSTIR_ASSIGN_OR_RETURN(const bool stuck, hangs_with(middle));
    (stuck ? hangs : completes) = middle;
  }
  out.least_bytes = completes;
  return out;
}

}  // namespace hostir::interp
