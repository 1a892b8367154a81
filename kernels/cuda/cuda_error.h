// Converts CUDA status codes to our errors, in this one place.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::cuda {

inline Expected<void> check_cuda(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());  // otherwise the next call would report it
  const char* id = status == cudaErrorMemoryAllocation ? "cuda_memory" : "cuda_runtime";
  return fail(
      ErrorKind::kRuntime, id,
      fmt::format("{}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace hostir::cuda
