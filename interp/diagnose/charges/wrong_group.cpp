#include "interp/diagnose/charges/wrong_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/text/comparison_text.h"

namespace hostir::diagnose {

namespace {

using model::Member;
using model::Rank;
using model::Run;

/// One call of a rank, and the one that it should have made.
struct OnOtherGroup {
  MemberRef wrong;
  MemberRef right;  // as another rank makes it
};

class WrongGroup {
 public:
  WrongGroup(const Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls) {}

  // The first such call of the rank.
  std::optional<OnOtherGroup> of(Rank rank) const {
    for (const MemberRef& call : calls_[static_cast<size_t>(rank)]) {
      if (call.meeting == nullptr || completed_by_all(call) ||
          !stack_is_known(run_, *call.member) || others_call_it_there(call))
        continue;
      const MemberRef right = awaited(call);
      if (right.member != nullptr && !calls_both_in_turn(rank, right, call))
        return OnOtherGroup{call, right};
    }
    return std::nullopt;
  }

  // The rank that made the omitted call makes that line on other groups everywhere else, and
  // another rank waits for it there.
  std::optional<OnOtherGroup> of_maker(const MemberRef& omitted) const {
    bool elsewhere = false;
    for (const MemberRef& ref : calls_[static_cast<size_t>(omitted.member->rank)]) {
      if (ref.member == omitted.member || !same_stack(run_, *ref.member, *omitted.member)) continue;
      if (ref.communicator() == omitted.communicator()) return std::nullopt;
      elsewhere = true;
    }
    if (!elsewhere) return std::nullopt;
    const MemberRef right = awaited(omitted);
    if (right.member == nullptr) return std::nullopt;
    return OnOtherGroup{omitted, right};
  }

 private:
  // True if the rank or another member ever makes another call from that line on that group.
  bool others_call_it_there(const MemberRef& call) const {
    return std::ranges::any_of(call.meeting->members, [&](const Member& member) {
      if (run_.find(member.rank) == nullptr) return false;
      const auto& line = calls_[static_cast<size_t>(member.rank)];
      return std::ranges::any_of(line, [&](const MemberRef& ref) {
        return ref.member != call.member && ref.communicator() == call.communicator() &&
               ref.meeting != nullptr && same_stack(run_, *ref.member, *call.member);
      });
    });
  }
  // True if one line of the rank calls both groups in turn elsewhere: then it calls them in another
  // order here.
  bool calls_both_in_turn(Rank rank, const MemberRef& right, const MemberRef& wrong) const {
    const auto& line = calls_[static_cast<size_t>(rank)];
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      if (line[i].communicator() == right.communicator() &&
          line[i + 1].communicator() == wrong.communicator() &&
          stack_is_known(run_, *line[i].member) &&
          same_stack(run_, *line[i].member, *line[i + 1].member))
        return true;
    }
    return false;
  }
  // The same call on another group, in which a rank waits and which this rank does not make.
  MemberRef awaited(const MemberRef& call) const {
    for (const model::Meeting& meeting : run_.meetings) {
      const Member* mine = meeting.member(call.member->rank);
      if (mine == nullptr || (mine->arrived() && same_stack(run_, *mine, *call.member))) continue;
      for (const Member& member : meeting.members) {
        const MemberRef ref{&meeting, nullptr, &member};
        if (member.unfinished() && differ_in_group(run_, call, ref)) return ref;
      }
    }
    return {};
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
};

RecordedVerdict charged(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                        const std::vector<OnOtherGroup>& found) {
  const auto& [wrong, right] = found.front();
  RecordedVerdict out;
  out.charge = Charge::kWrongGroup;
  for (const OnOtherGroup& each : found) {
    const Rank rank = each.wrong.member->rank;
    const size_t at = place_of(calls, each.wrong);
    out.culprits.push_back(rank);
    out.repair.push_back(CallEdit::remove(rank, at));
    out.repair.push_back(CallEdit::add(rank, at, each.right));
  }
  out.at = wrong;
  out.missing = right;
  out.communicator = wrong.communicator();
  out.sequence = wrong.sequence();
  out.sentence = wrong_group_sentence(run, out.culprits, wrong, right);
  out.repair_text = wrong_group_repair(run, out.culprits, right);
  return out;
}

}  // namespace

void accuse_wrong_group_instead(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                                RecordedVerdict& verdict) {
  if (verdict.culprits.empty()) return;
  const WrongGroup finder(run, calls);
  const auto accuse = [&](RecordedVerdict other) {
    other.waiting = std::move(verdict.waiting);
    verdict = std::move(other);
  };
  if (verdict.charge == Charge::kLeftOut && verdict.count == 1 && verdict.culprits.size() == 1 &&
      verdict.missing.meeting != nullptr) {
    if (const auto found = finder.of_maker(verdict.missing)) {
      accuse(charged(run, calls, {*found}));
      return;
    }
  }
  if (some_lost(run)) return;
  std::vector<OnOtherGroup> found;
  for (const Rank rank : verdict.culprits) {
    const auto one = finder.of(rank);
    if (!one) return;
    found.push_back(*one);
  }
  RecordedVerdict other = charged(run, calls, found);
  if (explains(run, other.repair)) accuse(std::move(other));
}

}  // namespace hostir::diagnose
