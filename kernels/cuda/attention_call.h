// One call of cuDNN that computes an attention without storing its scores.
//
// cuDNN takes a graph of ops and recognises attention in it: product, scale, mask, softmax in f32,
// product. Its engine needs pointers aligned to 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hostir/support/expected.h"
#include "kernels/cuda/generate/plan.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

/// A cuDNN handle of one device. Calls on it take turns.
class AttentionHandle {
 public:
  virtual ~AttentionHandle() = default;
  /// Errors: `cuda_missing` if cuDNN is missing here, or was missing when this was built;
  /// `cuda_runtime`.
  static Expected<std::shared_ptr<AttentionHandle>> create();
};

/// Immutable and thread-safe.
class AttentionCall {
 public:
  virtual ~AttentionCall() = default;

  /// Null if cuDNN has no engine for this attention on the handle's device.
  static std::shared_ptr<const AttentionCall> choose(const AttentionStep& step,
                                                     std::shared_ptr<AttentionHandle> handle);

  /// Pointers of the operands' buffers.
  struct Pointers {
    const std::byte* q = nullptr;
    const std::byte* k = nullptr;
    const std::byte* v = nullptr;
    std::byte* o = nullptr;
  };
  /// Enqueues the call. Returns 0 or what went wrong as a cudaError_t.
  virtual int run(const Pointers& pointers, void* workspace, Stream stream) const = 0;
  virtual int64_t workspace_bytes() const = 0;
};

}  // namespace hostir::cuda
