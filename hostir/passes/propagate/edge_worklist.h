// The propagation edges to visit, as a bit set: a long fusion adds and removes millions of edges.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace hostir {

/// Edges are taken in program order.
class EdgeWorklist {
 public:
  void add(size_t edge) {
    const size_t word = edge / 64;
    if (word >= bits_.size()) bits_.resize(word + 1);
    bits_[word] |= uint64_t{1} << (edge % 64);
  }
  /// Removes and returns the first edge from `edge` on; nullopt if there is none.
  std::optional<size_t> take(size_t edge) {
    for (size_t word = edge / 64; word < bits_.size(); ++word) {
      uint64_t left = bits_[word];
      if (word == edge / 64) left &= ~uint64_t{0} << (edge % 64);
      if (left == 0) continue;
      const auto bit = static_cast<size_t>(std::countr_zero(left));
      bits_[word] &= ~(uint64_t{1} << bit);
      return word * 64 + bit;
    }
    return std::nullopt;
  }

 private:
  std::vector<uint64_t> bits_;
};

}  // namespace hostir
