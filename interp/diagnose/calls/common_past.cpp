// 1. For each rank, the calls that completed and come before its edits.
// 2. A call that one member still has ahead of it belongs to no member's past. Shortens the pasts
//    until they agree.
#include "interp/diagnose/calls/common_past.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace hostir::diagnose {

using model::Rank;

namespace {

class PastFinder {
 public:
  PastFinder(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
             const std::vector<CallEdit>& edits)
      : calls_(calls), past_(calls_.size(), 0), collectives_(run.communicators.size(), UINT64_MAX) {
    for (size_t r = 0; r < calls_.size(); ++r) begin(r, edits);
  }

  std::vector<size_t> find() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t r = 0; r < calls_.size(); ++r) {
        const auto& line = calls_[r];
        size_t n = 0;
        while (n < past_[r] && line[n].sequence() < ahead(line[n])) ++n;
        if (n == past_[r]) continue;
        cut(r, n);
        changed = true;
      }
    }
    return std::move(past_);
  }

 private:
  void begin(size_t r, const std::vector<CallEdit>& edits) {
    const auto& line = calls_[r];
    past_[r] = line.size();
    size_t n = 0;
    while (n < line.size() && line[n].member->state == model::MemberState::kCompleted) ++n;
    for (const CallEdit& edit : edits) {
      if (static_cast<size_t>(edit.rank) != r) continue;
      n = std::min(n, edit.at);
      if (edit.kind == CallEdit::Kind::kMove) n = std::min(n, edit.to);
    }
    std::map<uint64_t*, uint64_t> last;
    for (const MemberRef& ref : line) last[&ahead(ref)] = ref.sequence();
    for (const auto& [first, number] : last) *first = std::min(*first, number + 1);
    cut(r, n);
  }

  // Calls issued together stay together.
  void cut(size_t r, size_t n) {
    const auto& line = calls_[r];
    while (n > 0 && n < line.size() && line[n].member->order == line[n - 1].member->order) --n;
    for (size_t i = n; i < past_[r]; ++i) {
      uint64_t& first = ahead(line[i]);
      first = std::min(first, line[i].sequence());
    }
    past_[r] = n;
  }

  /// The first number that some member still has ahead of it, among the calls that `ref` is
  /// numbered with.
  uint64_t& ahead(const MemberRef& ref) {
    if (ref.meeting != nullptr) return collectives_[ref.communicator().index];
    return pairs_
        .try_emplace({ref.communicator().index, ref.pair->source, ref.pair->target}, UINT64_MAX)
        .first->second;
  }

  const std::vector<std::vector<MemberRef>>& calls_;
  std::vector<size_t> past_;
  std::vector<uint64_t> collectives_;                           // by communicator
  std::map<std::tuple<uint32_t, Rank, Rank>, uint64_t> pairs_;  // by communicator and ranks
};

}  // namespace

std::vector<size_t> common_past(const model::Run& run,
                                const std::vector<std::vector<MemberRef>>& calls,
                                const std::vector<CallEdit>& edits) {
  return PastFinder(run, calls, edits).find();
}

}  // namespace hostir::diagnose
