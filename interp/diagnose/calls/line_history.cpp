#include "interp/diagnose/calls/line_history.h"

#include <algorithm>

#include "interp/diagnose/charges/explanation.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;

void LineHistory::vote(const MemberRef& last, const MemberRef& other, std::vector<Rank>& last_first,
                       std::vector<Rank>& other_first) const {
  const bool known = stack_is_known(run_, *last.member) && stack_is_known(run_, *other.member);
  if (!known || same_stack(run_, *last.member, *other.member)) return;
  // Members of the other group that called the line on a third group: the line does not determine
  // the group.
  for (const Member& member : other.meeting->members) {
    const Member* there = last.meeting->member(member.rank);
    if (!member.arrived() && there != nullptr && there->arrived() &&
        round_before(*there, last, other).times > 0)
      return;
  }
  const Round with = round_before(*other.member, last, other);
  const Round without = round_before(*last.member, last, other);
  if (!with.whole || !without.whole) return;
  bool some_vote = false;
  // Ranks of other programs, such as the stages of a pipeline.
  std::vector<Rank> as_with;
  std::vector<Rank> as_without;
  size_t voters = 0;
  for (const Member& member : last.meeting->members) {
    if (!member.arrived() || other.meeting->member(member.rank) != nullptr) continue;
    const Round voter = round_before(member, last, other);
    if (!voter.whole) continue;
    ++voters;
    if (!has_called(member.rank, other)) continue;
    if (voter.times == with.times + 1) as_with.push_back(member.rank);
    if (voter.times == without.times) as_without.push_back(member.rank);
    if (voter.rest == with.rest && voter.times == with.times + 1) {
      other_first.push_back(member.rank);
      some_vote = true;
    } else if (voter.rest == without.rest && voter.times == without.times) {
      last_first.push_back(member.rank);
      some_vote = true;
    }
  }
  // If all voters agree on an order, it is right even where their programs differ.
  constexpr size_t kLeastVoters = 2;
  if (some_vote || voters < kLeastVoters || with.times < without.times) return;
  if (as_with.size() == voters && as_without.empty())
    other_first.insert(other_first.end(), as_with.begin(), as_with.end());
  if (as_without.size() == voters && as_with.empty())
    last_first.insert(last_first.end(), as_without.begin(), as_without.end());
}

bool LineHistory::breaks_its_rounds(const MemberRef& last, const MemberRef& other) const {
  const auto& line = calls_[static_cast<size_t>(last.member->rank)];
  if (!stack_is_known(run_, *other.member)) return false;
  if (same_stack(run_, *last.member, *other.member)) return false;
  for (size_t i = place_of(*last.member); i-- > 0;) {
    if (!same_stack(run_, *line[i].member, *last.member)) continue;
    // The round before the first call of the line may lack the calls that end other rounds.
    const bool first = std::none_of(
        line.begin(), line.begin() + static_cast<ptrdiff_t>(i),
        [&](const MemberRef& ref) { return same_stack(run_, *ref.member, *last.member); });
    return !first && round_before(*last.member, last, other).times <
                         round_before(*line[i].member, last, other).times;
  }
  return false;
}
bool LineHistory::has_called(Rank rank, const MemberRef& line) const {
  const auto& calls = calls_[static_cast<size_t>(rank)];
  return std::any_of(calls.begin(), calls.end(), [&](const MemberRef& ref) {
    return same_stack(run_, *ref.member, *line.member);
  });
}

LineHistory::Round LineHistory::round_before(const Member& call, const MemberRef& last,
                                             const MemberRef& other) const {
  const auto& line = calls_[static_cast<size_t>(call.rank)];
  Round out;
  out.whole = !some_lost(run_);
  for (size_t i = place_of(call); i-- > 0;) {
    if (same_stack(run_, *line[i].member, *last.member)) {
      out.whole = true;
      break;
    }
    if (same_stack(run_, *line[i].member, *other.member)) {
      ++out.times;
    } else {
      ++out.rest[sequence_of(*line[i].member)];
    }
  }
  return out;
}
// One address for all instructions of a source line.
const void* LineHistory::sequence_of(const Member& member) const {
  const model::Instruction* site = run_.find(member.instruction);
  if (site == nullptr) return nullptr;
  const auto [at, added] = lines_.try_emplace(site, site);
  for (auto& [known, first] : lines_) {
    if (added && first != site && same_lines(*known, *site)) at->second = first;
  }
  return at->second;
}

LineHistory::Step LineHistory::step_to(Rank rank, size_t at) const {
  const auto& line = calls_[static_cast<size_t>(rank)];
  Step out;
  for (size_t i = 1; i < at; ++i) {
    if (!alike(line[i - 1], line[at - 1])) continue;
    out.known = out.known || alike(line[i], line[at]);
    out.usual = line[i];
  }
  return out;
}

bool LineHistory::alike(const MemberRef& a, const MemberRef& b) const {
  return (a.pair == nullptr) == (b.pair == nullptr) && a.sends() == b.sends() &&
         (a.pair == nullptr || a.peer() == b.peer()) && stack_is_known(run_, *a.member) &&
         same_stack(run_, *a.member, *b.member);
}

}  // namespace hostir::diagnose
