// A kernel that runs on the host, in host memory: for the device without a GPU, and on a GPU for
// kernels the generator does not support (the backend then copies operands and results).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/common/bound_kernel.h"
#include "kernels/cpu/kernel.h"

namespace hostir::cuda {

class HostKernel {
 public:
  /// Errors: those of cpu::compile.
  static Expected<std::shared_ptr<HostKernel>> create(const kernels::BoundKernel& kernel);

  /// Operands in the kernel's order. Thread-safe.
  void run(std::span<const void* const> in, std::span<void* const> out) const;
  std::span<const int64_t> in_bytes() const { return in_bytes_; }
  std::span<const int64_t> out_bytes() const { return out_bytes_; }
  std::string description() const;

 private:
  HostKernel() = default;
  std::unique_ptr<cpu::CompiledKernel> kernel_;
  std::vector<int64_t> in_bytes_;
  std::vector<int64_t> out_bytes_;
};

}  // namespace hostir::cuda
