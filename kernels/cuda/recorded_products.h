// The kernels of a matrix product, launched without cuBLASLt.
//
// A call of cublasLtMatmul selects its kernels and packs their arguments anew each time. In a loop
// every call gives the same. A product
// that is called with the same pointers again is captured once, and its kernels are then launched
// with the arguments of the capture.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "kernels/cuda/product_call.h"

namespace hostir::cuda {

/// The recordings of one product, by pointers. Thread-safe.
class RecordedProducts {
 public:
  RecordedProducts();
  ~RecordedProducts();
  RecordedProducts(const RecordedProducts&) = delete;
  RecordedProducts& operator=(const RecordedProducts&) = delete;

  /// Equivalent to: call.run(...). `call`: the same for the same alignment of all pointers.
  cudaError_t run(const ProductCall& call, cublasLtHandle_t handle,
                  const ProductCall::Pointers& pointers, void* workspace, Stream stream);

 private:
  class Recording;
  using Key = std::array<const void*, 6>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    int calls = 0;
    std::shared_ptr<const Recording> recording;  // null: none yet, or it cannot be recorded
  };

  std::shared_ptr<const Recording> recording_for(const ProductCall& call, cublasLtHandle_t handle,
                                                 const ProductCall::Pointers& pointers,
                                                 void* workspace);

  std::mutex mutex_;
  std::unordered_map<Key, Entry, KeyHash> entries_;
};

}  // namespace hostir::cuda
