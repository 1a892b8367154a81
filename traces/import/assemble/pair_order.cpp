#include "traces/import/assemble/pair_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace hostir::traces::import {

namespace {

size_t completed(const std::vector<PairSide>& sides) {
  return static_cast<size_t>(std::count_if(sides.begin(), sides.end(), [](const PairSide& side) {
    return side.call->state == model::MemberState::kCompleted;
  }));
}

bool lost(const std::vector<PairSide>& sides) {
  return !sides.empty() && (sides.front().dump->start_lost || sides.front().dump->only_unfinished);
}

}  // namespace

void PairOrder::lost_before(model::Rank rank, const ProcessDump& dump) {
  int64_t first = INT64_MAX;
  for (const DumpCall& call : dump.calls)
    first = std::min(first, call.times.issued_ns.value_or(first));
  begin_ns_[rank] = first;
}

bool PairOrder::may_have_met(const PairSide& side, model::Rank peer) const {
  constexpr uint64_t kSlackNs = 1'000'000'000;  // for clocks and ranks that drift apart
  const auto begin = begin_ns_.find(peer);
  if (begin == begin_ns_.end()) return false;
  const auto& issued_ns = side.call->times.issued_ns;
  if (!issued_ns || begin->second > *issued_ns) return true;
  return static_cast<uint64_t>(*issued_ns) - static_cast<uint64_t>(begin->second) < kSlackNs;
}

void PairOrder::add(const PairSide& side) {
  const DumpGroup& group = side.dump->groups[side.call->group];
  if (!side.call->peer) return;
  const auto peer = static_cast<size_t>(*side.call->peer);
  if (*side.call->peer < 0 || !group.members || peer >= group.members->size()) {
    remarks_.push_back(
        fmt::format("rank {}: {} with position {} of {}, whose members are not known", side.rank,
                    model::kind_text(side.call->call), *side.call->peer, group.name));
    return;
  }
  const model::Rank other = (*group.members)[peer];
  const bool sends = side.call->shape == DumpCall::Shape::kSend;
  const model::Rank source = sends ? side.rank : other;
  const model::Rank target = sends ? other : side.rank;
  Line& line = lines_[{side.communicator, source, target}];
  (sends ? line.sends : line.recvs).push_back(side);
}

std::vector<OrderedCall> PairOrder::ordered() const {
  std::vector<OrderedCall> out;
  for (const auto& [key, line] : lines_) {
    const model::Rank source = std::get<1>(key);
    const model::Rank target = std::get<2>(key);
    const bool some_lost = lost(line.sends) || lost(line.recvs);
    const size_t sends_done = completed(line.sends);
    const size_t recvs_done = completed(line.recvs);
    const size_t most_done = std::max(sends_done, recvs_done);
    const size_t send_shift = some_lost ? most_done - sends_done : 0;
    const size_t recv_shift = some_lost ? most_done - recvs_done : 0;
    const size_t first = some_lost ? std::max(send_shift, recv_shift) : 0;
    const bool one_sided = line.sends.empty() || line.recvs.empty();
    const auto add = [&](const std::vector<PairSide>& sides, bool sends, size_t shift) {
      for (size_t i = 0; i < sides.size(); ++i) {
        const bool other_is_lost = i + shift < first;
        const model::Rank peer = sends ? target : source;
        if (other_is_lost) continue;
        const bool may_meet = one_sided && may_have_met(sides[i], peer);
        out.push_back({sides[i], sends, peer, i + shift, may_meet});
      }
    };
    add(line.sends, true, send_shift);
    add(line.recvs, false, recv_shift);
  }
  return out;
}

}  // namespace hostir::traces::import
