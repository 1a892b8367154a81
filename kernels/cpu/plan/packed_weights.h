// Packed copies of one operand, by address and contents.
#pragma once

#include <list>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Keeps the last kMost contents and evicts the oldest first. Must not be modified while it is
/// read.
class PackedWeights {
 public:
  /// The packed bytes of these contents, aligned to 64, or null.
  const std::byte* find(const std::byte* data, uint64_t version) const;
  /// Allocates memory for the packed bytes of new contents; replaces older contents at the same
  /// address.
  std::byte* add(ConstMemory data, int64_t bytes);
  int64_t bytes() const;

 private:
  static constexpr size_t kMost = 64;
  struct Entry {
    const std::byte* data = nullptr;
    uint64_t version = 0;
    std::vector<std::byte> bytes;
    std::byte* aligned = nullptr;
  };
  std::list<Entry> entries_;
};

}  // namespace hostir::cpu
