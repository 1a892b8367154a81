#include "interp/core/ledger.h"

#include <algorithm>
#include <tuple>

namespace hostir::interp {

void GroupLedger::drop_finished() {
  size_t done = 0;
  while (done < heads_.size() && heads_[done].finished == members_) ++done;
  const size_t drop = done > kWindow ? done - kWindow : 0;
  if (drop == 0) return;
  first_ += drop;
  heads_.erase(heads_.begin(), heads_.begin() + static_cast<std::ptrdiff_t>(drop));
  arrivals_.erase(arrivals_.begin(),
                  arrivals_.begin() + static_cast<std::ptrdiff_t>(drop * members_));
}

void Ledger::prepare(const Code& code) {
  for (const Communicator& comm : code.communicators) {
    first_group.push_back(static_cast<uint32_t>(groups.size()));
    for (const auto& members : comm.groups) {
      groups.emplace_back(static_cast<uint32_t>(members.size()));
    }
  }
  next_sequence.assign(code.communicators.size() * static_cast<size_t>(code.rank_count), 0);
}

PairCounter& Ledger::counter(CommIndex comm, Rank source, Rank target) {
  const auto key = std::make_tuple(comm, source, target);
  auto at = std::lower_bound(counters.begin(), counters.end(), key,
                             [](const PairCounter& c, const auto& k) {
                               return std::make_tuple(c.comm, c.source, c.target) < k;
                             });
  if (at == counters.end() || std::make_tuple(at->comm, at->source, at->target) != key) {
    at = counters.insert(at, {comm, source, target, 0, 0});
  }
  return *at;
}

Pair& Ledger::pair(CommIndex comm, Rank source, Rank target, uint64_t ordinal) {
  for (auto it = pairs.rbegin(); it != pairs.rend(); ++it) {
    if (it->comm == comm && it->source == source && it->target == target &&
        it->ordinal == ordinal) {
      return *it;
    }
  }
  if (pairs.size() >= 2 * kPairWindow) {
    // The oldest finished ones go; unfinished ones stay wherever they are.
    size_t drop = pairs.size() - kPairWindow;
    std::erase_if(pairs, [&](const Pair& p) {
      const bool out = drop > 0 && p.send.finished && p.recv.finished;
      if (out) --drop;
      return out;
    });
  }
  Pair& made = pairs.emplace_back();
  made.comm = comm;
  made.source = source;
  made.target = target;
  made.ordinal = ordinal;
  return made;
}

}  // namespace hostir::interp
