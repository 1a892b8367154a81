// Checks that ranks that return the same part of a result return the same contents.
#pragma once

#include <optional>

#include "interp/core/interpreter.h"

namespace hostir::interp {

/// The error `replicas_differ` (without the origin of the contents), and the two ranks' buffers.
struct ResultDifference {
  Fault fault;
  BufferRef first;
  BufferRef second;
};

/// A fault if ranks hold different contents of a result although its layout says that they hold the
/// same part. An output shows only the first holder's. A warning if the contents differ by rounding
/// only. Call it after the run has ended.
std::optional<ResultDifference> differing_result(const Interpreter& interpreter, size_t result);

/// The first such error of all results, with the instructions that wrote the two contents. nullopt
/// if the backend reads no values.
std::optional<Fault> differing_results(const Interpreter& interpreter);

}  // namespace hostir::interp
