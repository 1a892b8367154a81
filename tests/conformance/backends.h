// The backends that the suite runs on, and what each of them is allowed not to do.
//
// An exception is a pattern over names of cases (`*` and `?`) and the reason. A case that an
// exception names must fail on that backend: one that passes, or a pattern that names no case, is
// stale and fails the suite.
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
  const char* name;  // of the cases
  std::unique_ptr<interp::Backend> (*make)();
  std::span<const Exception> exceptions;
};

std::span<const BackendUnderTest> backends();

/// nullptr: the case must pass.
const Exception* exception_for(const BackendUnderTest& backend, const char* case_name);

}  // namespace hostir::conformance
