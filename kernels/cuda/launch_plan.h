// A plan with everything resolved, executed by CompiledKernel::launch().
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/cuda/attention_call.h"
#include "kernels/cuda/device_code.h"
#include "kernels/cuda/kernel.h"
#include "kernels/cuda/product_call.h"
#include "kernels/cuda/recorded_calls.h"

namespace hostir::cuda {

/// A cuBLASLt handle shared by kernels and their compiler.
class ProductHandle {
 public:
  static Expected<std::shared_ptr<ProductHandle>> create();
  ~ProductHandle();
  ProductHandle(const ProductHandle&) = delete;
  ProductHandle& operator=(const ProductHandle&) = delete;
  cublasLtHandle_t get() const { return handle_; }

 private:
  ProductHandle() = default;
  cublasLtHandle_t handle_ = nullptr;
};

struct GeneratedLaunch {
  cudaKernel_t aligned = nullptr;
  cudaKernel_t unaligned = nullptr;
  unsigned grid = 0;
  unsigned block = 0;
  std::vector<int> buffers;
  // The same for the driver; nullptr if it does not give them.
  CUfunction aligned_function = nullptr;
  CUfunction unaligned_function = nullptr;
};

struct ProductLaunch {
  ProductCall aligned;
  std::optional<ProductCall> unaligned;
  int a = -1, b = -1, c = -1, bias = -1, d = -1;
  GeneratedLaunch plain;  // used if there is no algorithm for unaligned operands
  std::unique_ptr<RecordedCalls> recorded = std::make_unique<RecordedCalls>();
};

struct AttentionLaunch {
  std::shared_ptr<const AttentionCall> call;
  std::unique_ptr<RecordedCalls> recorded = std::make_unique<RecordedCalls>();
};

struct LaunchPlan {
  Plan plan;
  DeviceCode code;
  std::vector<DeviceMemory> constants;
  std::shared_ptr<ProductHandle> handle;
  std::vector<std::variant<GeneratedLaunch, ProductLaunch, AttentionLaunch>> launches;
  int64_t library_workspace_bytes = 0;  // the most that a call of cuBLASLt or cuDNN needs
  /// The same kernel without attention, for operands that are not aligned to 16 bytes; null if this
  /// one has none.
  std::shared_ptr<const CompiledKernel> without_attention;
  /// Parameters and results that must not be the same range: such a result is computed separately.
  std::vector<std::pair<size_t, size_t>> unsafe_pairs;
  std::vector<int64_t> shadow_offsets;  // by result, after everything else; -1: never needed
  int64_t shadow_bytes = 0;
};

std::unique_ptr<CompiledKernel> make_compiled_kernel(LaunchPlan plan);

}  // namespace hostir::cuda
