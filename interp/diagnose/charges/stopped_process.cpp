#include "interp/diagnose/charges/stopped_process.h"

#include <algorithm>
#include <set>
#include <utility>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

using model::Rank;
using model::Run;

namespace {

std::vector<MemberRef> unfinished_members(const MemberRef& ref) {
  std::vector<MemberRef> out;
  const auto add = [&](const model::Member& member) {
    if (member.unfinished()) out.push_back({ref.meeting, ref.pair, &member});
  };
  if (ref.pair != nullptr) {
    add(ref.pair->send);
    add(ref.pair->recv);
  } else {
    std::for_each(ref.meeting->members.begin(), ref.meeting->members.end(), add);
  }
  std::sort(out.begin(), out.end(),
            [](const MemberRef& a, const MemberRef& b) { return a.member->rank < b.member->rank; });
  return out;
}

}  // namespace

bool is_stopped(const Run& run, Rank rank) {
  const model::RankFacts* facts = run.find(rank);
  return facts != nullptr &&
         (facts->state == model::RankState::kDead || facts->state == model::RankState::kFrozen);
}

std::optional<StoppedProcess> find_stopped_process(
    const Run& run, const std::vector<std::vector<MemberRef>>& calls) {
  const bool some = std::ranges::any_of(run.ranks, [](const model::RankFacts& facts) {
    return facts.state == model::RankState::kDead || facts.state == model::RankState::kFrozen;
  });
  if (!some) return std::nullopt;
  std::set<const model::Meeting*> searched;
  for (const auto& line : calls) {
    for (const MemberRef& ref : line) {
      if (!ref.member->unfinished() || is_stopped(run, ref.member->rank)) continue;
      if (ref.meeting != nullptr && !searched.insert(ref.meeting).second) continue;
      StoppedProcess out;
      for (const MemberRef& member : unfinished_members(ref)) {
        const bool halts = is_stopped(run, member.member->rank);
        if (halts && out.ranks.empty()) out.at = member;
        (halts ? out.ranks : out.waiting).push_back(member.member->rank);
      }
      if (out.ranks.empty()) continue;
      out.awaited = ref;
      return out;
    }
  }
  return std::nullopt;
}

bool accuse_stopped_process(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                            RecordedVerdict& out) {
  std::optional<StoppedProcess> found = find_stopped_process(run, calls);
  if (!found) return false;
  const bool died = run.find(found->ranks.front())->state == model::RankState::kDead;
  out.charge = died ? Charge::kDied : Charge::kStopped;
  out.culprits = std::move(found->ranks);
  out.waiting = std::move(found->waiting);
  out.at = found->at;
  out.missing = found->awaited;
  out.communicator = found->at.communicator();
  out.sequence = found->at.sequence();
  return true;
}

}  // namespace hostir::diagnose
