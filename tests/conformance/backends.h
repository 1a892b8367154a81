// The backends that the suite runs on, with their permitted exceptions.
//
// An exception is a pattern for case names (`*` and `?`) with a reason. A case covered by an
// exception must fail on that backend. An exception whose case passes, or whose pattern matches no
// case, is stale and fails the suite.
#pragma once

#include <memory>
#include <span>

#include "interp/core/backend.h"

namespace hostir::conformance {

struct Exception {
  const char* pattern;
  const char* reason;
};

struct BackendUnderTest {
  const char* name;  // appears in test names
  std::unique_ptr<interp::Backend> (*make)();
  std::span<const Exception> exceptions;
};

std::span<const BackendUnderTest> backends();

/// The exception that covers a case; nullptr: the case must pass.
const Exception* exception_for(const BackendUnderTest& backend, const char* case_name);

}  // namespace hostir::conformance
