// 1. Compare the accusation with the calls on all communicators.
// 2. Run the repaired job; if it hangs, look for the next fault in it.
// 3. Withdraw what does not explain the hang.
// 4. Complete the sentence.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/charges/doubt.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/wrong_group.h"
#include "interp/diagnose/judge.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::Run;

void Judge::revise() {
  // The rules look at one communicator; these compare with the calls on all of them. They come
  // first, because they change the repair.
  accuse_extra_instead(run_, calls_, out_);
  accuse_divergent_ranks(run_, calls_, moving_, out_);
  accuse_wrong_group_instead(run_, calls_, out_);
  // Runs the repaired job. A second fault found there resolves doubts that would arise below.
  const bool more = more_faults();
  // Withdraws the accusation if its repair does not explain the hang.
  if (!more) check_explanation(run_, calls_, waited_, out_);
  if (out_.culprits.size() > 1) named_ = out_.waiting;
  if (!more) doubt_never_came(run_, calls_, out_);
  // The charge is final. A fault elsewhere and missing ranks only add to the sentence.
  if (out_.is_fault() && out_.sentence.empty()) out_.sentence = sentence_of(run_, calls_, out_);
  if (!more && !found_.empty() && !out_.culprits.empty()) second_fault();
  if (out_.is_fault())
    out_.sentence += out_.also + alike_text() + missing_also_explains(run_, out_) + wait_behind();
  if (!out_.is_fault()) out_.sentence = innocent_sentence(run_, moving_);
  spare_ranks_with_a_record(run_, out_);
}

namespace {

bool is_in(const MemberRef& call, Rank rank) {
  if (call.pair != nullptr) return call.member->rank == rank;
  const Member* member = call.meeting == nullptr ? nullptr : call.meeting->member(rank);
  return member != nullptr && member->arrived();
}

}  // namespace

// Ranks in flight that the sentence has not named.
std::string Judge::wait_behind() {
  std::vector<Rank> behind;
  const std::set<Rank> culprits(out_.culprits.begin(), out_.culprits.end());
  std::set<Rank> named = culprits;
  named.insert(named_.begin(), named_.end());
  named.insert(out_.suspects.begin(), out_.suspects.end());
  for (const Rank rank : unfinished_ranks(calls_)) {
    if (!named.contains(rank) && !is_in(out_.missing, rank)) behind.push_back(rank);
    if (!culprits.contains(rank)) insert_once(out_.waiting, rank);
  }
  const bool absent = out_.charge == Charge::kNeverCame || out_.charge == Charge::kNoRecord;
  const bool names_some = out_.charge == Charge::kOrder || (absent && !waited_.empty());
  if (behind.empty() || !names_some) return {};
  return fmt::format("; {} {} in turn", model::list_of(behind),
                     behind.size() == 1 ? "waits" : "wait");
}

// A fault among ranks that have no part in the first disagreement is not its consequence.
void Judge::second_fault() {
  std::set<Rank> involved(out_.culprits.begin(), out_.culprits.end());
  for (const Member* member : found_.front().members) involved.insert(member->rank);
  if (const model::Meeting* meeting = found_.front().meeting) {
    for (const Member& member : meeting->members) involved.insert(member.rank);
  }
  const auto apart = [&](Rank rank) { return !involved.contains(rank); };
  for (size_t i = 1; i < found_.size(); ++i) {
    const auto& all = found_[i].members;
    const bool is_apart =
        std::all_of(all.begin(), all.end(), [&](const Member* m) { return apart(m->rank); });
    if (!is_apart || found_[i].odd.empty()) continue;
    Judge other(run_, moving_);
    other.disagreement(found_[i]);
    add_fault(std::move(other.out_));
    return;
  }
  const bool some_apart = std::ranges::any_of(run_.communicators, [&](const auto& group) {
    return group.members && std::ranges::all_of(*group.members, apart);
  });
  if (moving_ || !some_apart) return;
  Judge other(run_, moving_);
  other.accuse(rules().subspan(1));  // without disagreements
  const model::Communicator* facts = run_.find(other.out_.communicator);
  if (other.out_.culprits.empty() || facts == nullptr || !facts->members ||
      goes_beyond_record(run_, held_up_, other.out_))
    return;
  const auto& all = *facts->members;
  if (std::all_of(all.begin(), all.end(), apart)) add_fault(std::move(other.out_));
}

// The repair adds a call that the rank makes later: what is then one call too many is the later
// one. So the rank made these calls in another order.
static bool is_the_added_call(const std::vector<CallEdit>& repair, const RecordedVerdict& other) {
  if (other.charge != Charge::kExtraCall || other.at.member == nullptr) return false;
  return std::ranges::any_of(repair, [&](const CallEdit& edit) {
    return edit.kind == CallEdit::Kind::kAdd && edit.pattern.member != nullptr &&
           other.culprits == std::vector<Rank>{edit.rank} &&
           edit.pattern.communicator() == other.at.communicator() &&
           model::call_text(edit.pattern.member->call) == model::call_text(other.at.member->call);
  });
}

// The repaired job is run again. If it hangs, the next fault is judged in the same way; it counts
// if the repair of both lets all ranks complete.
bool Judge::more_faults() {
  constexpr size_t kMostCalls = 50'000;
  size_t recorded = 0;
  for (const auto& line : calls_) recorded += line.size();
  if (faults_before_ + 1 >= kMostFaults || recorded > kMostCalls || out_.culprits.empty() ||
      out_.repair.empty() || some_lost(run_))
    return false;
  if (explains(run_, out_.repair)) return false;
  const Rerun again = rerun(run_, repaired(run_, out_.repair));
  auto other = judge_again(again, faults_before_ + 1);
  if (!other || other->culprits.empty() || goes_beyond_record(run_, held_up_, *other)) return false;
  std::vector<CallEdit> both = out_.repair;
  both.insert(both.end(), other->repair.begin(), other->repair.end());
  if (!explains(run_, both)) return false;
  const bool again_so = other->charge == out_.charge && other->culprits == out_.culprits &&
                        other->at.member != nullptr && out_.at.member != nullptr &&
                        other->at.member->instruction == out_.at.member->instruction;
  if (!again_so) judge_beside(other->repair);
  if (out_.sentence.empty()) out_.sentence = sentence_of(run_, calls_, out_);
  if (again_so) {
    out_.repair = std::move(both);
    out_.repair_text += " each time";
    out_.also += "; the same happens again in a later call";
  } else if (is_the_added_call(out_.repair, *other)) {
    out_.repair = std::move(both);
    out_.repair_text =
        fmt::format("with these calls in the other order on {}", model::list_of(out_.culprits));
  } else {
    add_fault(std::move(*other));
  }
  return true;
}

// The second fault may hide who is at fault in the first. It is judged once more, in the job in
// which only the second is repaired.
void Judge::judge_beside(const std::vector<CallEdit>& repair_of_second) {
  if (out_.charge != Charge::kNeverCame) return;
  const Rerun alone = rerun(run_, repaired(run_, repair_of_second));
  auto verdict = judge_again(alone, kMostFaults);
  if (!verdict || !verdict->is_fault() || verdict->culprits == out_.culprits) return;
  std::vector<CallEdit> both = verdict->repair;
  both.insert(both.end(), repair_of_second.begin(), repair_of_second.end());
  if (explains(run_, both)) out_ = std::move(*verdict);
}

// The verdict on a repaired job, with its calls as those of this run.
std::optional<RecordedVerdict> Judge::judge_again(const Rerun& again, size_t faults_before) const {
  return in_first_run(again, calls_, Judge(again.run, moving_, faults_before, held_up_).judge());
}

namespace {

std::vector<Rank> edited_ranks(const std::vector<CallEdit>& repair) {
  std::vector<Rank> out;
  for (const CallEdit& edit : repair) insert_once(out, edit.rank);
  return out;
}

// The text of a repair of `ranks` without them; empty if it names others or none.
std::string without_ranks(std::string text, const std::vector<Rank>& ranks) {
  const std::string on = " on " + model::list_of(ranks);
  if (!text.ends_with(on)) return {};
  text.resize(text.size() - on.size());
  constexpr std::string_view kOne = "this call";
  if (text.ends_with(kOne)) text.replace(text.size() - kOne.size(), kOne.size(), "these calls");
  return text;
}

// `with these calls on ranks 2, 3` for one call on each.
std::string both_repairs(const RecordedVerdict& one, const RecordedVerdict& two) {
  std::vector<Rank> ranks = edited_ranks(one.repair);
  const std::vector<Rank> more = edited_ranks(two.repair);
  const std::string stem = without_ranks(one.repair_text, ranks);
  if (stem.empty() || stem != without_ranks(two.repair_text, more))
    return one.repair_text + " and " + two.repair_text;
  for (const Rank rank : more) insert_once(ranks, rank);
  return stem + " on " + model::list_of(ranks);
}

}  // namespace

// True if the second fault is the first one on another group, of other ranks, and the only further
// one.
bool Judge::is_alike(const RecordedVerdict& other) const {
  constexpr std::array kOfOneCall = {Charge::kDifferentCall, Charge::kLeftOut, Charge::kExtraCall,
                                     Charge::kSwapped, Charge::kOrder};
  const auto same = [&](const MemberRef& a, const MemberRef& b) {
    if (a.meeting == nullptr || b.meeting == nullptr)
      return a.member == nullptr && b.member == nullptr;
    return stack_is_known(run_, *a.member) && same_stack(run_, *a.member, *b.member) &&
           same_call(a.member->call, b.member->call);
  };
  return contains(kOfOneCall, out_.charge) && other.charge == out_.charge && !other.has_second &&
         !out_.culprits.empty() && other.communicator != out_.communicator &&
         std::ranges::none_of(other.culprits,
                              [&](Rank rank) { return contains(out_.culprits, rank); }) &&
         same(out_.at, other.at) && same(out_.missing, other.missing);
}

std::string Judge::alike_text() const {
  if (out_.alike.empty()) return {};
  return fmt::format("; {} {} the same on {}", model::list_of(out_.alike),
                     verb(out_.alike, "does", "do"),
                     out_.alike.size() == 1 ? "its own group" : "their own groups");
}

void Judge::add_fault(RecordedVerdict other) {
  if (is_alike(other)) {
    for (const Rank rank : other.culprits) insert_once(out_.alike, rank);
  } else {
    if (other.sentence.empty()) other.sentence = sentence_of(run_, calls_, other);
    out_.also += "; also, " + other.sentence;
    out_.has_second = true;
  }
  for (const Rank rank : other.culprits) insert_once(out_.culprits, rank);
  for (const Rank rank : other.waiting) insert_once(out_.waiting, rank);
  if (out_.repair.empty() || other.repair.empty()) return;
  out_.repair_text = both_repairs(out_, other);
  out_.repair.insert(out_.repair.end(), other.repair.begin(), other.repair.end());
}

}  // namespace hostir::diagnose
