// Converts errors of the CUDA runtime.
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

}  // namespace hostir::cuda
