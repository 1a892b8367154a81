#include "kernels/cuda/device_code.h"

#include <utility>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/driver.h"

namespace hostir::cuda {

Expected<DeviceCode> DeviceCode::load(const std::string& machine_code) {
  DeviceCode code;
  HOSTIR_TRY(check_cuda(cudaLibraryLoadData(&code.library_, machine_code.data(), nullptr, nullptr,
                                            0, nullptr, nullptr, 0),
                        "loading a generated kernel"));
  return code;
}

DeviceCode::~DeviceCode() {
  if (library_ != nullptr) static_cast<void>(cudaLibraryUnload(library_));
}

DeviceCode::DeviceCode(DeviceCode&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)) {}

DeviceCode& DeviceCode::operator=(DeviceCode&& other) noexcept {
  std::swap(library_, other.library_);
  return *this;
}

Expected<cudaKernel_t> DeviceCode::kernel(const std::string& name) const {
  cudaKernel_t kernel = nullptr;
  HOSTIR_TRY(check_cuda(cudaLibraryGetKernel(&kernel, library_, name.c_str()),
                        "looking up generated kernel " + name));
  return kernel;
}

CUfunction DeviceCode::function(cudaKernel_t kernel) {
  static const auto get = driver_function<decltype(&cuKernelGetFunction)>("cuKernelGetFunction");
  CUfunction function = nullptr;
  if (get == nullptr || get(&function, kernel) != CUDA_SUCCESS) return nullptr;
  return function;
}

cudaError_t launch_function(CUfunction function, unsigned grid, unsigned block, cudaStream_t stream,
                            void** arguments) {
  static const auto launch = driver_function<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  if (launch == nullptr || function == nullptr) return cudaErrorNotSupported;
  const CUresult status = launch(function, grid, 1, 1, block, 1, 1, 0, stream, arguments, nullptr);
  return static_cast<cudaError_t>(status);  // the same numbers
}

Expected<DeviceMemory> DeviceMemory::allocate(size_t bytes) {
  DeviceMemory memory;
  HOSTIR_TRY(check_cuda(cudaMalloc(&memory.data_, bytes == 0 ? 1 : bytes),
                        fmt::format("allocating {} bytes of device memory", bytes)));
  return memory;
}

Expected<DeviceMemory> DeviceMemory::copy_of(const std::vector<std::byte>& bytes) {
  HOSTIR_ASSIGN_OR_RETURN(DeviceMemory memory, allocate(bytes.size()));
  HOSTIR_TRY(
      check_cuda(cudaMemcpy(memory.data_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
                 "copying a constant to the device"));
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) static_cast<void>(cudaFree(data_));
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace hostir::cuda
