// Errors of the CUDA runtime, and its current device.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "hostir/support/expected.h"

namespace hostir::cuda {

/// `cudaMalloc: out of memory`
inline tl::unexpected<Error> cuda_error(const char* what, cudaError_t status) {
  return fail(ErrorKind::kRuntime, "cuda",
              std::string(what) + ": " + cudaGetErrorString(status) + " (" +
                  cudaGetErrorName(status) + ")");
}

/// Equivalent to: cudaSetDevice. Cheaper if the device is already the thread's, as it is for nearly
/// every launch.
inline void use_device(int index) {
  thread_local int last = -1;
  static const bool is_only_device = [] {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count == 1;
  }();
  int current = -1;
  if (last == index &&
      (is_only_device || (cudaGetDevice(&current) == cudaSuccess && current == index))) {
    return;
  }
  if (cudaSetDevice(index) == cudaSuccess) last = index;
}

}  // namespace hostir::cuda
