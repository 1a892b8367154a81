// Compiled fast kernels are lists of steps, which run one after another on values in memory.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Memory that pieces of work borrow and return, so that runs do not allocate. Thread-safe.
class ScratchPool {
 public:
  class Lease {
   public:
    Lease(ScratchPool& pool, int64_t bytes);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* data() const { return data_; }  // aligned to 64

   private:
    ScratchPool& pool_;
    std::vector<std::byte> buffer_;
    std::byte* data_ = nullptr;
  };

 private:
  std::vector<std::byte> take(int64_t bytes);
  void give(std::vector<std::byte> buffer);

  std::mutex mutex_;
  std::vector<std::vector<std::byte>> free_;
};

/// One run. `values` by ValueId: parameters, results and temporaries; `versions` of parameters.
struct RunContext {
  std::span<const Memory> values;
  std::span<const uint64_t> versions;  // by ValueId, 0: unknown
  ScratchPool& scratch;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void run(const RunContext& context) = 0;
  /// Packs a parameter whose contents will not change: see CompiledKernel::prepack.
  virtual void prepack(uint32_t value, ConstMemory data);
  virtual int64_t packed_bytes() const { return 0; }
  virtual std::string description() const = 0;
};

}  // namespace hostir::cpu
