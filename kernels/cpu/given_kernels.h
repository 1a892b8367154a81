// Kernels that the process gives for `opaque` operations, which nothing else can compute.
//
// They belong to the process, like set_thread_count(). A kernel that was given stays; another one
// for the same operation replaces it. Thread-safe.
#pragma once

#include <functional>
#include <string>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Computes the single result of an `opaque`. It may be called by several threads at once, and
/// again for the same operands, so it must be a function of them.
struct GivenKernel {
  std::function<void(const ReferenceCall&)> compute;
  /// The kernel may be called with parts even if only a guess says that they suffice
  /// (`as_operands`).
  bool on_parts = false;
};

/// `operation`: the attribute `name` of the instructions.
void give_kernel(const std::string& operation, GivenKernel kernel);
/// Null if there is none.
std::shared_ptr<const GivenKernel> given_kernel(const std::string& operation);

}  // namespace hostir::cpu
