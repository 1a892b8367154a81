#include "backends.h"

#include <fnmatch.h>

#include "interp/null/null_backend.h"
#include "interp/sim/sim_backend.h"

namespace hostir::conformance {

namespace {

std::unique_ptr<interp::Backend> make_null() { return std::make_unique<interp::NullBackend>(); }

std::unique_ptr<interp::Backend> make_sim() {
  sim::SimOptions options;
  options.kernels = cpu::KernelSet::kReference;
  options.threads = 1;
  return sim::make_sim_backend(options);
}

constexpr Exception kNullExceptions[] = {
    {"values_*", "has no data: every read gives zeros"},
    {"refusal_*", "has neither kernels nor memory, so there is nothing that it cannot do"},
};

constexpr BackendUnderTest kBackends[] = {
    {"sim", make_sim, {}},
    {"null", make_null, kNullExceptions},
};

}  // namespace

std::span<const BackendUnderTest> backends() { return kBackends; }

const Exception* exception_for(const BackendUnderTest& backend, const char* case_name) {
  for (const Exception& exception : backend.exceptions) {
    if (fnmatch(exception.pattern, case_name, 0) == 0) return &exception;
  }
  return nullptr;
}

}  // namespace hostir::conformance
