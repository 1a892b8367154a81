// Which rank is next: the smallest (host clock, rank) of those that can run.
//
// A tournament tree over all ranks: each node holds the winner of its two children, so a changed
// clock costs one comparison per level and the first rank is always known.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

class RunQueue {
 public:
  static constexpr int64_t kCannotRun = INT64_MAX;

  explicit RunQueue(size_t ranks = 0)
      : leaves_(std::bit_ceil(ranks < 2 ? size_t{2} : ranks)),
        keys_(leaves_, kCannotRun),
        winners_(leaves_) {
    for (size_t node = leaves_; --node > 0;) winners_[node] = match(node);
  }

  int64_t key(Rank rank) const { return keys_[static_cast<size_t>(rank)]; }
  void set(Rank rank, int64_t key) {
    keys_[static_cast<size_t>(rank)] = key;
    for (size_t node = (leaves_ + static_cast<size_t>(rank)) / 2; node > 0; node /= 2) {
      const Rank before = winners_[node];
      const Rank now = winners_[node] = match(node);
      if (now == before && now != rank) return;  // nothing changes above
    }
  }
  Rank first() const {
    const Rank winner = winners_[1];
    return key(winner) == kCannotRun ? kNoRank : winner;
  }

 private:
  Rank player(size_t node) const {
    return node < leaves_ ? winners_[node] : static_cast<Rank>(node - leaves_);
  }
  Rank match(size_t node) const {
    const Rank left = player(2 * node);
    const Rank right = player(2 * node + 1);
    return key(right) < key(left) ? right : left;
  }

  size_t leaves_ = 2;
  std::vector<int64_t> keys_;
  std::vector<Rank> winners_;  // by node: 1 is the root, 2n and 2n+1 are the children of n
};

}  // namespace hostir::interp
