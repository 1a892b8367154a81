// A set of ranks to iterate over in order, even while it changes.
//
// One bit per rank, and one summary bit per 64 ranks: few ranks of many are in the set, and a walk
// skips 4,096 absent ones at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::sim {

class RankSet {
 public:
  explicit RankSet(size_t ranks = 0) : bits_((ranks + 63) / 64), words_((bits_.size() + 63) / 64) {}

  void set(interp::Rank rank, bool member) {
    const auto r = static_cast<size_t>(rank);
    uint64_t& word = bits_[r / 64];
    const uint64_t bit = uint64_t{1} << (r % 64);
    word = member ? word | bit : word & ~bit;
    uint64_t& summary = words_[r / 4096];
    const uint64_t word_bit = uint64_t{1} << (r / 64 % 64);
    summary = word != 0 ? summary | word_bit : summary & ~word_bit;
  }
  interp::Rank first() const { return next(0); }
  /// The first member at or after `from`; kNoRank if there is none.
  interp::Rank next(interp::Rank from) const {
    const size_t word = next_bit(bits_, static_cast<size_t>(from), 1);
    if (word == kNone) return find_word(static_cast<size_t>(from) / 64 + 1);
    return static_cast<interp::Rank>(word);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  // The first bit from `from` on within the next `limit` words.
  static size_t next_bit(const std::vector<uint64_t>& words, size_t from, size_t limit) {
    for (size_t w = from / 64; limit > 0 && w < words.size(); ++w, --limit) {
      const uint64_t rest = w == from / 64 ? words[w] >> (from % 64) << (from % 64) : words[w];
      if (rest != 0) return w * 64 + static_cast<size_t>(std::countr_zero(rest));
    }
    return kNone;
  }
  interp::Rank find_word(size_t from) const {
    const size_t word = next_bit(words_, from, words_.size());
    if (word == kNone) return interp::kNoRank;
    return static_cast<interp::Rank>(next_bit(bits_, word * 64, 1));
  }

  std::vector<uint64_t> bits_;
  std::vector<uint64_t> words_;  // bit w: bits_[w] is not 0
};

}  // namespace hostir::sim
