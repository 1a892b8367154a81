// 1. The first of the rules that applies accuses (Judge::rules()).
// 2. Judge::revise() compares the accusation with the calls on all communicators, runs the repaired
//    job, and withdraws what does not explain the hang (judge_revise.cpp).
#include "interp/diagnose/recorded.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/aligned_calls.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/charges/doubt.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/order_cycle.h"
#include "interp/diagnose/charges/unusual.h"
#include "interp/diagnose/engine/gaps.h"
#include "interp/diagnose/judge.h"
#include "interp/diagnose/text/comparison_text.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"

namespace hostir::diagnose {

using model::CommunicatorId;
using model::Member;
using model::MemberState;
using model::Rank;
using model::Run;

RecordedVerdict Judge::judge() {
  accuse(rules());
  revise();
  std::ranges::sort(out_.waiting);
  out_.waiting.erase(std::unique(out_.waiting.begin(), out_.waiting.end()), out_.waiting.end());
  out_.not_known = gap_sentences(run_);
  return std::move(out_);
}

std::span<const Judge::Rule> Judge::rules() {
  static constexpr std::array<Rule, 7> kRules = {
      // First, because everything after contradictory calls may be a consequence of them.
      &Judge::disagreeing_members,
      // The record of the awaited rank proves that it did not make the call.
      &Judge::absent_rank,
      // Weaker: no record shows what the awaited rank did.
      &Judge::rank_without_record,
      // From here on every awaited rank waits too. This needs no mistake in the program.
      &Judge::stopped_process,
      // Before cycles: a send or recv whose peer has continued looks like a part of one.
      &Judge::unanswered,
      // The missing calls still lie ahead of their ranks.
      &Judge::order_cycle,
      // Last, because nobody waits: only the stacks show that a call is missing.
      &Judge::shifted,
  };
  return kRules;
}

void Judge::accuse(std::span<const Rule> from) {
  for (const Rule rule : from)
    if ((this->*rule)()) break;
  for (const Waited& w : waited_) {
    for (const Rank rank : w.waiting) insert_once(out_.waiting, rank);
  }
  if (!waited_.empty()) named_ = waited_.front().waiting;
}

bool Judge::disagreeing_members() {
  found_ = first_disagreements(run_);
  if (found_.empty()) return false;
  disagreement(found_.front());
  return true;
}

void Judge::disagreement(const Disagreement& found) {
  out_.communicator = found.communicator();
  out_.sequence = found.sequence();
  for (const Member* member : found.members) {
    if (member->unfinished()) insert_once(out_.waiting, member->rank);
  }
  if (found.odd.empty()) {
    undecided(found);
    accuse_unusual(run_, calls_, found, out_);
    return;
  }
  const Member& odd = *found.odd.front();
  for (const Member* member : found.odd) insert_once(out_.culprits, member->rank);
  const MemberRef right = found.ref(*found.expected.front());
  out_.at = found.ref(odd);
  out_.missing = right;
  out_.charge = found.blocks ? Charge::kBlocks : Charge::kDifferentCall;
  if (found.meeting != nullptr && !found.blocks) reader_.read(found, out_);
  if (out_.charge == Charge::kDifferentCall && !out_.repair.empty() && is_one_size(found))
    prefer_one_size(found, right);
  const bool repairable =
      out_.charge == Charge::kDifferentCall || (found.blocks && out_.culprits.size() == 1);
  if (repairable && out_.repair.empty()) {
    for (const Rank rank : out_.culprits) {
      const Member* member = found.member(rank);
      if (member != nullptr) change_call(found.ref(*member), right);
    }
    if (found.blocks) {
      out_.repair_text = fmt::format("with the blocks that the others send and expect on {}",
                                     model::list_of(out_.culprits));
    }
  }
}

// True if the odd calls differ from the others' in nothing but their size.
bool Judge::is_one_size(const Disagreement& found) const {
  const Member& expected = *found.expected.front();
  return std::ranges::all_of(found.odd, [&](const Member* odd) {
    return odd->call.kind == expected.call.kind && odd->call.dtype == expected.call.dtype &&
           same_stack(run_, *odd, expected);
  });
}

// Several calls that are missing or too many need more faults than one wrong size.
void Judge::prefer_one_size(const Disagreement& found, const MemberRef& right) {
  RecordedVerdict one = out_;
  one.repair.clear();
  one.also.clear();
  one.at = found.ref(*found.odd.front());
  one.missing = right;
  one.sequence = found.sequence();
  std::swap(one, out_);
  for (const Member* odd : found.odd) change_call(found.ref(*odd), right);
  if (!some_lost(run_) && !explains(run_, out_.repair)) std::swap(one, out_);
}

void Judge::undecided(const Disagreement& found) {
  out_.charge = found.blocks ? Charge::kBlocks : Charge::kDifferentCall;
  for (const Member* member : found.members) insert_once(out_.suspects, member->rank);
  out_.at = found.ref(*found.members.front());
  out_.missing = found.ref(*found.members.back());
  if (found.blocks) {
    fit_receivers(found);
    return;
  }
  if (found.expected.empty()) return;
  // With two sides either may be right; the repair changes the later one to match the earlier
  // one.
  for (const Member* member : found.members) {
    if (!contains(found.expected, member)) out_.missing = found.ref(*member);
  }
  out_.at = found.ref(*found.expected.front());
  change_call(out_.missing, out_.at);
  for (const Member* member : found.members) {
    const bool same = member == out_.missing.member || contains(found.expected, member);
    if (!same) change_call(found.ref(*member), out_.at);
  }
  // Members that record no root follow the side that is kept.
  for (size_t i = 0; found.meeting != nullptr && i < found.meeting->members.size(); ++i) {
    const Member& member = found.meeting->members[i];
    if (member.arrived() && found.member(member.rank) == nullptr)
      change_call(found.ref(member), out_.at);
  }
  out_.repair_text = fmt::format("with {} on all of them", model::call_text(out_.at.member->call));
}

// What is sent counts as right: the ranks that expect something else are changed.
void Judge::fit_receivers(const Disagreement& found) {
  std::vector<Rank> ranks;
  const auto& members = found.meeting->members;
  for (size_t q = 0; q < members.size(); ++q) {
    const auto& expected = members[q].call.receives;
    for (size_t p = 0; p < std::min(expected.size(), members.size()); ++p) {
      const auto& sent = members[p].call.sends;
      if (q < sent.size() && sent[q] != expected[p]) insert_once(ranks, members[q].rank);
    }
  }
  for (const Rank rank : ranks) change_call(found.ref(*found.member(rank)), out_.at);
  if (!ranks.empty())
    out_.repair_text =
        fmt::format("with the blocks that the others send and expect on {}", model::list_of(ranks));
}

bool Judge::absent_rank() {
  waited_ = waited_calls(run_, calls_, compact_wait_graph(run_, model::Motion::kStuck));
  const auto proved = std::ranges::find_if_not(waited_, &std::vector<Rank>::empty, &Waited::absent);
  if (proved == waited_.end()) return false;
  if (moving_) {
    out_.notes.push_back(fmt::format("{} {} for {} in {}{}", model::list_of(proved->waiting),
                                     proved->waiting.size() == 1 ? "waits" : "wait",
                                     model::list_of(proved->absent), call_name(run_, proved->call),
                                     at_stack(run_, proved->call)));
    return true;
  }
  const bool has_stopped =
      std::ranges::any_of(proved->absent, [&](Rank rank) { return is_stopped(run_, rank); });
  if (has_stopped && stopped_process()) return true;
  // A process that is stopped in a call holds up everybody, also ranks that wait for their devices
  // and so make no call.
  const bool has_frozen = std::ranges::any_of(run_.ranks, [](const model::RankFacts& facts) {
    return facts.state == model::RankState::kFrozen;
  });
  if (has_frozen && stopped_process()) {
    out_.notes.push_back(fmt::format("{} {} not come to {} yet", model::list_of(proved->absent),
                                     proved->absent.size() == 1 ? "has" : "have",
                                     call_name(run_, proved->call)));
    return true;
  }
  absent(*proved);
  return true;
}

bool Judge::rank_without_record() {
  if (waited_.empty()) return false;
  if (moving_) return true;
  no_record(waited_.front());
  // Other groups may wait for other ranks without a record.
  for (const Waited& waited : std::span(waited_).subspan(1)) {
    const auto told = [&](Rank rank) {
      return contains(out_.culprits, rank) || contains(out_.suspects, rank) || has_record(rank);
    };
    if (waited.unknown.size() != 1 || told(waited.unknown.front())) continue;
    Judge other(run_, moving_);
    other.no_record(waited);
    other.out_.waiting = waited.waiting;
    if (out_.sentence.empty()) out_.sentence = sentence_of(run_, calls_, out_);
    add_fault(std::move(other.out_));
  }
  return true;
}

bool Judge::has_record(Rank rank) const {
  return run_.find(rank)->record != model::RecordState::kMissing;
}

void Judge::absent(const Waited& waited) {
  out_.communicator = waited.call.communicator();
  out_.sequence = waited.call.sequence();
  out_.missing = waited.call;
  out_.culprits = waited.absent;
  if (waited.call.pair != nullptr) {
    peer(waited);
    return;
  }
  const size_t members = waited.call.meeting->members.size();
  // A rank that waits for all others, which have completed all their calls, made an extra call.
  const bool alone = waited.waiting.size() == 1 && waited.absent.size() > 1 &&
                     waited.absent.size() + waited.unknown.size() + 1 == members;
  if (alone && ahead(waited)) return;
  if (!left_out_by_some(waited)) never_came(waited);
}

std::optional<size_t> Judge::first_left_out(const AlignedCalls& aligned) const {
  for (size_t i = 0; i < aligned.steps.size(); ++i) {
    const bool gap = aligned.steps[i].kind == AlignedStep::Kind::kLeftOut;
    if (gap && same_call_follows(aligned, i) && !is_only_moved(run_, aligned, i)) return i;
  }
  return std::nullopt;
}

// Finds all absent ranks that lack the same call. Other ranks may have been prevented from making
// it.
bool Judge::left_out_by_some(const Waited& waited) {
  std::vector<Rank> ranks;
  std::vector<CallEdit> edits;
  RecordedVerdict first;
  const Rank waits = longest_record(run_, waited.waiting, out_.communicator);
  for (const Rank rank : waited.absent) {
    const AlignedCalls aligned = align_ranks(run_, rank, waits, out_.communicator);
    const auto gap = first_left_out(aligned);
    if (!gap) continue;
    out_.culprits = {rank};
    reader_.left_out(aligned, *gap, out_);
    if (ranks.empty()) {
      first = out_;
    } else if (first.charge != out_.charge || out_.missing.meeting != first.missing.meeting) {
      continue;
    }
    ranks.push_back(rank);
    edits.insert(edits.end(), out_.repair.begin(), out_.repair.end());
  }
  if (ranks.empty()) return false;
  out_ = std::move(first);
  out_.culprits = ranks;
  out_.repair = std::move(edits);
  if (out_.charge != Charge::kLeftOut) return true;
  out_.repair_text = fmt::format("with this call on {}", model::list_of(ranks));
  const auto& members = out_.missing.meeting->members;
  const size_t known = members_on_record(run_, *out_.missing.meeting);
  if (ranks.size() * 2 < known + callers_outside(run_, calls_, out_.missing)) return true;
  out_.culprits.clear();  // no majority makes the call
  for (const Member& member : members) insert_once(out_.suspects, member.rank);
  return true;
}

bool Judge::ahead(const Waited& waited) {
  const Rank rank = waited.waiting.front();
  // Ranks of other groups that called the line as often show that the call is right.
  if (callers_outside(run_, calls_, waited.call) >= waited.absent.size()) return false;
  const Rank idle = longest_record(run_, waited.absent, out_.communicator);
  const AlignedCalls aligned = align_ranks(run_, rank, idle, out_.communicator);
  for (size_t i = 0; i < aligned.steps.size(); ++i) {
    const bool gap = aligned.steps[i].kind == AlignedStep::Kind::kExtra;
    if (!gap || is_only_moved(run_, aligned, i)) continue;
    out_.culprits = {rank};
    reader_.extra(aligned, i, out_);
    return true;
  }
  return false;
}

void Judge::never_came(const Waited& waited) {
  out_.charge = Charge::kNeverCame;
  const Rank rank = out_.culprits.front();
  const model::RankFacts* facts = run_.find(rank);
  if (facts != nullptr && facts->state == model::RankState::kDead) out_.charge = Charge::kDied;
  out_.at = last_call(calls_, rank);
  for (const Rank each : out_.culprits) note_fewer_before(run_, each, waited.call, out_.notes);
  for (const Rank each : out_.culprits) add_call(each, waited.call);
  out_.repair_text = fmt::format("with this call on {}", model::list_of(out_.culprits));
}

// If calls were lost, nothing else shows that the missing call comes before one in which the rank
// waits: other members of that one may wait for the rank before they come to it.
void Judge::add_call(Rank rank, const MemberRef& pattern) {
  const auto& line = calls_[static_cast<size_t>(rank)];
  const auto waits = std::ranges::find_if(line, [](const MemberRef& ref) {
    return ref.meeting != nullptr && ref.member->unfinished();
  });
  const auto at = (some_lost(run_) ? waits : line.end()) - line.begin();
  out_.repair.push_back(CallEdit::add(rank, static_cast<size_t>(at), pattern));
}

void Judge::change_call(const MemberRef& wrong, const MemberRef& right) {
  const Rank rank = wrong.member->rank;
  out_.repair.push_back(CallEdit::change(rank, place_of(wrong), right));
  out_.repair_text =
      fmt::format("with {} on {}", repaired_call(wrong, right),
                  model::list_of(out_.culprits.empty() ? std::vector<Rank>{rank} : out_.culprits));
}

void Judge::peer(const Waited& waited) {
  if (const auto found = peers_.wrong_peer(waited.call)) {
    wrong_peer(*found);
  } else {
    never_came(waited);
  }
}

// Several ranks may name the wrong rank in one line. They are accused together if the repair of all
// explains the hang.
void Judge::wrong_peer(const WrongPeer& found) {
  name_wrong_peer(calls_, found.wrong, found.other, out_);
  if (moving_ || some_lost(run_)) return;
  std::vector<Rank> ranks;
  std::vector<CallEdit> repair;
  const std::vector<WrongPeer> all = peers_.alike(found);
  for (const auto& [wrong, other] : all) {
    insert_once(ranks, wrong.member->rank);
    repair.push_back(CallEdit::change(wrong.member->rank, place_of(wrong), other));
  }
  if (ranks.size() < 2 || !contains(ranks, out_.culprits.front()) || !explains(run_, repair))
    return;
  name_wrong_peer(calls_, all.front().wrong, all.front().other, out_);
  out_.culprits = std::move(ranks);
  out_.repair = std::move(repair);
  out_.repair_text =
      fmt::format("with each {} the rank that waits for it on {}",
                  found.wrong.sends() ? "send to" : "recv from", model::list_of(out_.culprits));
}

void Judge::no_record(const Waited& waited) {
  out_.charge = Charge::kNoRecord;
  out_.communicator = waited.call.communicator();
  out_.sequence = waited.call.sequence();
  out_.missing = waited.call;
  if (waited.unknown.size() == 1) {
    out_.culprits = waited.unknown;
  } else {
    out_.suspects = waited.unknown;
  }
  const model::RankFacts* facts = run_.find(waited.unknown.front());
  if (facts != nullptr && facts->state == model::RankState::kDead) out_.charge = Charge::kDied;
  for (const Rank rank : waited.unknown) add_call(rank, waited.call);
  out_.repair_text = fmt::format("with this call on {}", model::list_of(waited.unknown));
}

bool Judge::order_cycle() {
  const auto circle = find_order_cycle(run_, calls_);
  if (!circle || moving_) return circle.has_value();
  // If calls were lost, a call left out before may have caused the cycle. Stacks can show it.
  if (some_lost(run_) && shifted()) {
    out_.waiting = circle->ranks;
    return true;
  }
  accuse_order_cycle(run_, *circle, out_);
  return true;
}

// A send or recv without a counterpart: the named rank has continued past it.
bool Judge::unanswered() {
  if (moving_) return false;
  if (const auto found = peers_.wrong_peer()) {
    wrong_peer(*found);
    for (const MemberRef& call : {out_.at, out_.missing})
      insert_once(out_.waiting, call.member->rank);
    return true;
  }
  const auto found = peers_.passed_by();
  if (!found) return false;
  out_.charge = Charge::kLeftOut;
  out_.culprits = {found->rank};
  out_.waiting = {found->waits.member->rank};
  out_.at = found->next;
  out_.missing = found->waits;
  out_.communicator = found->waits.communicator();
  out_.sequence = found->waits.sequence();
  out_.sentence = passed_by_sentence(run_, *found);
  out_.repair = {CallEdit::add(found->rank, place_of(found->next), found->waits)};
  out_.repair_text = fmt::format("with this call on rank {}", found->rank);
  return true;
}

// Every call so far met one of the same kind and size, but one rank has fewer calls, and the
// stacks show which one is missing.
bool Judge::shifted() {
  for (uint32_t c = 0; c < run_.communicators.size(); ++c) {
    const CommunicatorId communicator(c);
    const model::CallRange* longest = nullptr;
    for (const model::CallRange& range : run_.ranges) {
      if (range.communicator != communicator || !range.last) continue;
      const auto reach = [](const model::CallRange& each) {
        return std::pair(*each.last, -static_cast<int64_t>(each.first.value_or(0)));
      };
      if (longest == nullptr || reach(range) > reach(*longest)) longest = &range;
    }
    if (longest == nullptr) continue;
    for (const model::CallRange& range : run_.ranges) {
      if (range.communicator != communicator || !range.last || *range.last >= *longest->last)
        continue;
      const AlignedCalls aligned = align_ranks(run_, range.rank, longest->rank, communicator);
      if (const auto gap = first_left_out(aligned)) {
        out_.communicator = communicator;
        out_.culprits = {range.rank};
        reader_.left_out(aligned, *gap, out_);
        if (!moving_ || out_.also.empty()) return true;
        out_ = {};  // it may still make that call
      }
      const model::Meeting* last = run_.meeting(communicator, *longest->last);
      if (aligned.fewer_before > 0 && last != nullptr && goes_on_behind(range.rank, *last)) {
        out_.communicator = communicator;
        out_.sequence = last->sequence;
        out_.missing = {last, nullptr, last->member(longest->rank)};
        out_.culprits = {range.rank};
        never_came({.call = out_.missing});
        return true;
      }
    }
  }
  return false;
}

// True if `rank` never made `last`, and went on with a call that another member made after it.
bool Judge::goes_on_behind(Rank rank, const model::Meeting& last) const {
  const Member* mine = last.member(rank);
  if (mine == nullptr || mine->state != MemberState::kNotArrived) return false;
  const auto& own = calls_[static_cast<size_t>(rank)];
  if (own.empty() || own.back().communicator() == last.communicator) return false;
  return std::ranges::any_of(last.members, [&](const Member& other) {
    if (!other.arrived()) return false;
    const auto& line = calls_[static_cast<size_t>(other.rank)];
    const size_t at = place_of({&last, nullptr, &other});
    return std::any_of(line.begin() + static_cast<ptrdiff_t>(at), line.end(),
                       [&](const MemberRef& ref) {
                         return stack_is_known(run_, *ref.member) &&
                                same_stack(run_, *ref.member, *own.back().member);
                       });
  });
}

RecordedVerdict judge(const Run& run) {
  // Ranks of a healthy job are always some milliseconds apart.
  constexpr int64_t kTellingNs = 1'000'000'000;
  const bool moving = run.motion == model::Motion::kMoving;
  RecordedVerdict out = Judge(run, moving).judge();
  if (!moving || out.is_fault() || run.oldest_call_ns.value_or(0) < kTellingNs) return out;
  auto stuck = std::make_shared<RecordedVerdict>(Judge(run, false).judge());
  if (stuck->charge == Charge::kNone) return out;
  out.sentence = not_yet_sentence(run, *stuck);
  out.notes = stuck->notes;
  out.waiting = stuck->waiting;
  out.if_stuck = std::move(stuck);
  return out;
}

}  // namespace hostir::diagnose
