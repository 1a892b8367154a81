#include "kernels/cpu/step.h"

#include <algorithm>

namespace hostir::cpu {

void Step::prepack(uint32_t, ConstMemory) {}

ScratchPool::Lease::Lease(ScratchPool& pool, int64_t bytes)
    : pool_(pool), buffer_(pool.take(bytes + 64)) {
  const auto address = reinterpret_cast<uintptr_t>(buffer_.data());
  data_ = buffer_.data() + (64 - address % 64) % 64;
}

ScratchPool::Lease::~Lease() { pool_.give(std::move(buffer_)); }

std::vector<std::byte> ScratchPool::take(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Best fit: the smallest block that is large enough.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->size() >= size && (best == free_.end() || it->size() < best->size())) best = it;
    }
    if (best != free_.end()) {
      std::vector<std::byte> buffer = std::move(*best);
      free_.erase(best);
      return buffer;
    }
  }
  return std::vector<std::byte>(size);
}

void ScratchPool::give(std::vector<std::byte> buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(buffer));
}

}  // namespace hostir::cpu
