#include "interp/core/ledger.h"

#include <algorithm>
#include <tuple>

namespace hostir::interp {

void GroupLedger::add_row() {
  if (end_ - first_ >= 2 * kWindow) drop_finished();
  if (end_ - first_ == heads_.size()) grow();
  const uint64_t sequence = end_++;
  head(sequence) = {};
  for (uint32_t p = 0; p < members_; ++p) arrival(sequence, p) = {};
}

void GroupLedger::drop_finished() {
  uint64_t done = first_;
  while (done < end_ && head(done).finished == members_) ++done;
  if (done - first_ > kWindow) first_ = done - kWindow;
}

void GroupLedger::grow() {
  const size_t rows = std::max<size_t>(4, heads_.size() * 2);
  std::vector<MeetingHead> heads(rows);
  std::vector<Arrival> arrivals(rows * members_);
  for (uint64_t s = first_; s < end_; ++s) {
    const size_t to = s & (rows - 1);
    heads[to] = head(s);
    for (uint32_t p = 0; p < members_; ++p) arrivals[to * members_ + p] = std::move(arrival(s, p));
  }
  heads_ = std::move(heads);
  arrivals_ = std::move(arrivals);
}

void Ledger::prepare(const Code& code, bool one_member) {
  for (const Communicator& comm : code.communicators) {
    first_group.push_back(static_cast<uint32_t>(groups.size()));
    for (const auto& members : comm.groups) {
      groups.emplace_back(one_member ? 1 : static_cast<uint32_t>(members.size()));
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
    // Drop the oldest finished pairs; keep all unfinished ones.
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
