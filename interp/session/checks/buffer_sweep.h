// The smallest size of the p2p buffers with which a program completes.
#pragma once

#include <functional>
#include <optional>

#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

/// The result of runs with different `p2p_buffer_bytes`. More room never makes a send wait longer,
/// so one number is enough.
struct BufferSweep {
  /// The smallest buffer with which the program does not deadlock; 0: it needs none; nullopt: it
  /// deadlocks with any.
  std::optional<int64_t> least_bytes;
  int runs = 0;
};

/// Bisects over the size. Runs the program up to about 80 times, without a log.
/// `run` gives the result for a machine with the given p2p_buffer_bytes.
/// Errors: those of `run`.
Expected<BufferSweep> sweep_buffers(
    const std::function<Expected<RunResult>(int64_t p2p_buffer_bytes)>& run);

}  // namespace hostir::interp
