// Packed copies of one operand, by address and content.
#pragma once

#include <list>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Keeps the last kMost contents; the oldest goes first. Not to be changed while it is read.
class PackedWeights {
 public:
  /// The packed bytes of this content, aligned to 64, or null.
  const std::byte* find(const std::byte* data, uint64_t version) const;
  /// Memory for the packed bytes of a content; replaces older content at the same address.
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
