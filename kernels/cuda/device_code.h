// RAII for a kernel's machine code on a device and the memory it needs.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::cuda {

class DeviceCode {
 public:
  static Expected<DeviceCode> load(const std::string& machine_code);
  DeviceCode() = default;
  ~DeviceCode();
  DeviceCode(DeviceCode&& other) noexcept;
  DeviceCode& operator=(DeviceCode&& other) noexcept;

  Expected<cudaKernel_t> kernel(const std::string& name) const;
  /// The driver's handle of a kernel on the current device; nullptr if the driver does not give it.
  static CUfunction function(cudaKernel_t kernel);

 private:
  cudaLibrary_t library_ = nullptr;
};

/// Equivalent to: cuLaunchKernel on the thread's current context, without shared memory.
/// Errors: cudaErrorNotSupported if there is no such function or driver call; else the driver's.
cudaError_t launch_function(CUfunction function, unsigned grid, unsigned block, cudaStream_t stream,
                            void** arguments);

/// A plain allocation that is filled once.
class DeviceMemory {
 public:
  static Expected<DeviceMemory> allocate(size_t bytes);
  static Expected<DeviceMemory> copy_of(const std::vector<std::byte>& bytes);
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace hostir::cuda
