// Functions of the CUDA driver. The command does not link it; the runtime has loaded it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace hostir::cuda {

/// A function of the driver by its name in CUDA 12; nullptr if the driver does not have it.
template <class Function>
Function driver_function([[maybe_unused]] const char* name) {
#if CUDART_VERSION >= 12050
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = {};
  constexpr unsigned kSince = 12000;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, kSince, cudaEnableDefault, &result);
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) {
    return reinterpret_cast<Function>(found);
  }
  static_cast<void>(cudaGetLastError());
#endif
  return nullptr;
}

}  // namespace hostir::cuda
