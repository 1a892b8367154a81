// The kernels of a library call, launched without the library.
//
// A call of cuBLASLt or cuDNN selects its kernels and packs their arguments again each time. In a
// loop, every call selects and packs the same. A call with the same pointers as earlier ones is
// captured once, and its kernels are then launched with the arguments of the capture.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

/// The recordings of one call, by pointers. Thread-safe.
class RecordedCalls {
 public:
  /// Everything that may differ between two runs of the call.
  using Pointers = std::array<const void*, 6>;
  using Call = std::function<cudaError_t(Stream)>;

  RecordedCalls();
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// Equivalent to: call(stream). `call`: the same for the same pointers.
  cudaError_t run(const Pointers& pointers, const Call& call, Stream stream);

 private:
  class Recording;
  struct KeyHash {
    size_t operator()(const Pointers& key) const;
  };
  struct Entry {
    int calls = 0;
    std::shared_ptr<const Recording> recording;  // null: none yet, or it cannot be recorded
  };

  std::shared_ptr<const Recording> recording_for(const Pointers& pointers, const Call& call);

  std::mutex mutex_;
  std::unordered_map<Pointers, Entry, KeyHash> entries_;
};

}  // namespace hostir::cuda
