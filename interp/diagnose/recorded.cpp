// 1. The first of the rules that applies accuses (Judge::rules()).
// 2. Judge::revise() compares the accusation with the calls on all communicators, runs the repaired
//    job, and withdraws what does not explain the hang.
#include "interp/diagnose/recorded.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/aligned_calls.h"
#include "interp/diagnose/call_order.h"
#include "interp/diagnose/continuation.h"
#include "interp/diagnose/disagreement.h"
#include "interp/diagnose/divergent_verdict.h"
#include "interp/diagnose/doubt.h"
#include "interp/diagnose/explanation.h"
#include "interp/diagnose/gaps.h"
#include "interp/diagnose/job_calls.h"
#include "interp/diagnose/order_cycle.h"
#include "interp/diagnose/other_call.h"
#include "interp/diagnose/peers.h"
#include "interp/diagnose/recorded_text.h"
#include "interp/diagnose/rerun.h"
#include "interp/diagnose/sentences.h"
#include "interp/diagnose/stopped_process.h"
#include "interp/diagnose/unusual.h"
#include "interp/diagnose/waited.h"

namespace hostir::diagnose {

namespace {

using model::CommunicatorId;
using model::Member;
using model::MemberState;
using model::Rank;
using model::Run;

class Judge {
 public:
  /// `moving`: what may still move is not held against anybody.
  Judge(const Run& run, bool moving, size_t faults_before = 0)
      : run_(run),
        calls_(calls_by_rank(run)),
        peers_(run, calls_),
        reader_(run, calls_),
        faults_before_(faults_before),
        moving_(moving) {}

  RecordedVerdict judge() {
    accuse(rules());
    revise();
    out_.not_known = gap_sentences(run_);
    return std::move(out_);
  }

 private:
  // ---- the rules, in order of precedence

  /// True: it applies, and those after it do not.
  using Rule = bool (Judge::*)();

  static std::span<const Rule> rules() {
    static constexpr std::array<Rule, 7> kRules = {
        // First, because what comes after calls that contradict each other may be a consequence.
        &Judge::disagreeing_members,
        // The record of the awaited rank proves that it did not make the call.
        &Judge::absent_rank,
        // Weaker: no record tells what the awaited rank did.
        &Judge::rank_without_record,
        // From here on every awaited rank waits too. This needs no mistake in the program.
        &Judge::stopped_process,
        // Before circles: a send or recv whose peer has passed on looks like a part of one.
        &Judge::unanswered,
        // The missing calls still lie ahead of their ranks.
        &Judge::order_cycle,
        // Last, because nobody waits: only the stacks show that a call is missing.
        &Judge::shifted,
    };
    return kRules;
  }

  void accuse(std::span<const Rule> from) {
    for (const Rule rule : from)
      if ((this->*rule)()) break;
    for (const Waited& w : waited_) {
      for (const Rank rank : w.waiting) insert_once(out_.waiting, rank);
    }
  }

  void revise() {
    // The rules look at one communicator; these compare with the calls on all of them. They come
    // first, because they change the repair.
    accuse_extra_instead(run_, calls_, out_);
    accuse_wrong_group_instead(run_, calls_, out_);
    accuse_divergent_ranks(run_, calls_, moving_, out_);
    // Runs the repaired job. A second fault there explains what would raise doubts below.
    const bool more = more_faults();
    // What the repair does not explain withdraws the accusation.
    if (!more) check_explanation(run_, calls_, waited_, out_);
    if (!more) doubt_never_came(run_, calls_, out_);
    // The charge is final. A fault elsewhere and missing ranks only add to the sentence.
    if (out_.is_fault() && out_.sentence.empty()) out_.sentence = sentence_of(run_, calls_, out_);
    if (!more && !found_.empty() && !out_.culprits.empty()) second_fault();
    if (out_.is_fault()) out_.sentence += out_.also + missing_also_explains(run_, out_);
    if (!out_.is_fault()) out_.sentence = innocent_sentence(run_, moving_);
    spare_ranks_with_a_record(run_, out_);
  }

  // ---- two faults at once

  // A fault among ranks that have no part in the first disagreement is not its consequence.
  void second_fault() {
    const auto apart = [&](Rank rank) {
      return found_.front().member(rank) == nullptr && !contains(out_.culprits, rank);
    };
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
    if (moving_) return;
    Judge other(run_, moving_);
    other.accuse(rules().subspan(1));  // without disagreements
    const model::Communicator* facts = run_.find(other.out_.communicator);
    if (other.out_.culprits.empty() || facts == nullptr || !facts->members) return;
    const auto& all = *facts->members;
    if (std::all_of(all.begin(), all.end(), apart)) add_fault(std::move(other.out_));
  }

  // The repaired job is run again. If it hangs, the next fault is judged in the same way; it counts
  // if the repair of both lets all ranks complete.
  bool more_faults() {
    constexpr size_t kMostCalls = 50'000;
    size_t recorded = 0;
    for (const auto& line : calls_) recorded += line.size();
    if (faults_before_ + 1 >= kMostFaults || recorded > kMostCalls || out_.culprits.empty() ||
        out_.repair.empty() || some_lost(run_))
      return false;
    const JobCalls job = repaired(run_, out_.repair);
    if (completes(run_, job)) return false;
    const Rerun again = rerun(run_, job);
    auto other = judge_again(again, faults_before_ + 1);
    if (!other || other->culprits.empty() || goes_beyond_record(run_, calls_, *other)) return false;
    std::vector<CallEdit> both = out_.repair;
    both.insert(both.end(), other->repair.begin(), other->repair.end());
    if (!completes(run_, repaired(run_, both))) return false;
    const bool again_so = other->charge == out_.charge && other->culprits == out_.culprits &&
                          other->at.member != nullptr && out_.at.member != nullptr &&
                          other->at.member->instruction == out_.at.member->instruction;
    if (!again_so) judge_beside(other->repair);
    if (out_.sentence.empty()) out_.sentence = sentence_of(run_, calls_, out_);
    if (again_so) {
      out_.repair = std::move(both);
      out_.repair_text += " each time";
      out_.also += "; and so in a later call";
    } else {
      add_fault(std::move(*other));
    }
    return true;
  }

  // The second fault may hide who is at fault in the first. It is judged once more, in the job in
  // which only the second is repaired.
  void judge_beside(const std::vector<CallEdit>& repair_of_second) {
    if (out_.charge != Charge::kNeverCame) return;
    const Rerun alone = rerun(run_, repaired(run_, repair_of_second));
    auto verdict = judge_again(alone, kMostFaults);
    if (!verdict || !verdict->is_fault() || verdict->culprits == out_.culprits) return;
    std::vector<CallEdit> both = verdict->repair;
    both.insert(both.end(), repair_of_second.begin(), repair_of_second.end());
    if (completes(run_, repaired(run_, both))) out_ = std::move(*verdict);
  }

  // The verdict on a repaired job, with its calls as those of this run.
  std::optional<RecordedVerdict> judge_again(const Rerun& again, size_t faults_before) const {
    return in_first_run(again, calls_, Judge(again.run, moving_, faults_before).judge());
  }

  void add_fault(RecordedVerdict other) {
    if (other.sentence.empty()) other.sentence = sentence_of(run_, calls_, other);
    out_.also += "; also, " + other.sentence;
    for (const Rank rank : other.culprits) insert_once(out_.culprits, rank);
    for (const Rank rank : other.waiting) insert_once(out_.waiting, rank);
    if (out_.repair.empty() || other.repair.empty()) return;
    out_.repair.insert(out_.repair.end(), other.repair.begin(), other.repair.end());
    out_.repair_text += " and " + other.repair_text;
  }

  // ---- members that disagree

  bool disagreeing_members() {
    found_ = first_disagreements(run_);
    if (found_.empty()) return false;
    disagreement(found_.front());
    return true;
  }

  void disagreement(const Disagreement& found) {
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

  void undecided(const Disagreement& found) {
    out_.charge = found.blocks ? Charge::kBlocks : Charge::kDifferentCall;
    for (const Member* member : found.members) insert_once(out_.suspects, member->rank);
    out_.at = found.ref(*found.members.front());
    out_.missing = found.ref(*found.members.back());
    if (found.expected.empty() || found.blocks) return;
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
    // Members that record no root follow the one that is kept.
    for (size_t i = 0; found.meeting != nullptr && i < found.meeting->members.size(); ++i) {
      const Member& member = found.meeting->members[i];
      if (member.arrived() && found.member(member.rank) == nullptr)
        change_call(found.ref(member), out_.at);
    }
    out_.repair_text =
        fmt::format("with {} on all of them", model::call_text(out_.at.member->call));
  }

  // ---- waiting ranks

  bool absent_rank() {
    waited_ = waited_calls(run_, calls_, stuck_wait_graph(run_));
    const auto proved =
        std::ranges::find_if(waited_, [](const Waited& w) { return !w.absent.empty(); });
    if (proved == waited_.end()) return false;
    if (moving_) {
      out_.notes.push_back(fmt::format(
          "{} {} for {} in {}{}", model::list_of(proved->waiting),
          proved->waiting.size() == 1 ? "waits" : "wait", model::list_of(proved->absent),
          call_name(run_, proved->call), at_stack(run_, proved->call)));
      return true;
    }
    const bool has_stopped =
        std::ranges::any_of(proved->absent, [&](Rank rank) { return is_stopped(run_, rank); });
    if (!has_stopped || !stopped_process()) absent(*proved);
    return true;
  }

  bool rank_without_record() {
    if (waited_.empty()) return false;
    if (!moving_) no_record(waited_.front());
    return true;
  }

  size_t place_of(const MemberRef& ref) const { return diagnose::place_of(calls_, ref); }

  void absent(const Waited& waited) {
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

  // Finds all absent ranks that lack the same call. Other ranks may have been prevented from making
  // it.
  bool left_out_by_some(const Waited& waited) {
    std::vector<Rank> ranks;
    std::vector<CallEdit> edits;
    RecordedVerdict first;
    for (const Rank rank : waited.absent) {
      const AlignedCalls aligned =
          align_ranks(run_, rank, waited.call.member->rank, out_.communicator);
      for (size_t i = 0; i < aligned.steps.size(); ++i) {
        const bool gap = aligned.steps[i].kind == AlignedStep::Kind::kLeftOut;
        if (!gap || !same_call_follows(aligned, i)) continue;
        out_.culprits = {rank};
        reader_.left_out(aligned, i, out_);
        if (ranks.empty()) {
          first = out_;
        } else if (first.charge != out_.charge || out_.missing.meeting != first.missing.meeting) {
          break;
        }
        ranks.push_back(rank);
        edits.insert(edits.end(), out_.repair.begin(), out_.repair.end());
        break;
      }
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

  bool ahead(const Waited& waited) {
    const Rank rank = waited.waiting.front();
    const AlignedCalls aligned = align_ranks(run_, rank, waited.absent.front(), out_.communicator);
    for (size_t i = 0; i < aligned.steps.size(); ++i) {
      if (aligned.steps[i].kind != AlignedStep::Kind::kExtra) continue;
      out_.culprits = {rank};
      reader_.extra(aligned, i, out_);
      return true;
    }
    return false;
  }

  void never_came(const Waited& waited) {
    out_.charge = Charge::kNeverCame;
    const Rank rank = out_.culprits.front();
    const model::RankFacts* facts = run_.find(rank);
    if (facts != nullptr && facts->state == model::RankState::kDead) out_.charge = Charge::kDied;
    out_.at = last_call(calls_, rank);
    for (const Rank each : out_.culprits) note_fewer_before(run_, each, waited.call, out_.notes);
    for (const Rank each : out_.culprits) add_call(each, waited.call);
    out_.repair_text = fmt::format("with this call on {}", model::list_of(out_.culprits));
  }

  void add_call(Rank rank, const MemberRef& pattern) {
    const size_t end = calls_[static_cast<size_t>(rank)].size();
    out_.repair.push_back(CallEdit::add(rank, end, pattern));
  }
  void change_call(const MemberRef& wrong, const MemberRef& right) {
    const Rank rank = wrong.member->rank;
    out_.repair.push_back(CallEdit::change(rank, place_of(wrong), right));
    out_.repair_text = fmt::format(
        "with {} on {}", model::call_text(right.member->call),
        model::list_of(out_.culprits.empty() ? std::vector<Rank>{rank} : out_.culprits));
  }

  void peer(const Waited& waited) {
    if (const auto found = peers_.wrong_peer(waited.call)) {
      name_wrong_peer(calls_, found->wrong, found->other, out_);
    } else {
      never_came(waited);
    }
  }
  void no_record(const Waited& waited) {
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

  // ---- missing calls that no rank waits for

  bool stopped_process() { return !moving_ && accuse_stopped_process(run_, calls_, out_); }

  bool order_cycle() {
    const auto circle = find_order_cycle(run_, calls_);
    if (circle && !moving_) accuse_order_cycle(run_, *circle, out_);
    return circle.has_value();
  }

  // A send or recv without a counterpart, past which the named rank has continued.
  bool unanswered() {
    if (moving_) return false;
    if (const auto found = peers_.wrong_peer()) {
      name_wrong_peer(calls_, found->wrong, found->other, out_);
      out_.waiting = {std::min(out_.at.member->rank, out_.missing.member->rank),
                      std::max(out_.at.member->rank, out_.missing.member->rank)};
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
  bool shifted() {
    for (uint32_t c = 0; c < run_.communicators.size(); ++c) {
      const CommunicatorId communicator(c);
      const model::CallRange* longest = nullptr;
      for (const model::CallRange& range : run_.ranges) {
        if (range.communicator != communicator || !range.last) continue;
        if (longest == nullptr || *range.last > *longest->last) longest = &range;
      }
      if (longest == nullptr) continue;
      for (const model::CallRange& range : run_.ranges) {
        if (range.communicator != communicator || !range.last || *range.last >= *longest->last)
          continue;
        const AlignedCalls aligned = align_ranks(run_, range.rank, longest->rank, communicator);
        for (size_t i = 0; i < aligned.steps.size(); ++i) {
          if (aligned.steps[i].kind != AlignedStep::Kind::kLeftOut ||
              !same_call_follows(aligned, i))
            continue;
          out_.communicator = communicator;
          out_.culprits = {range.rank};
          reader_.left_out(aligned, i, out_);
          return true;
        }
      }
    }
    return false;
  }

  const Run& run_;
  std::vector<std::vector<MemberRef>> calls_;
  Peers peers_;
  CallReader reader_;
  static constexpr size_t kMostFaults = 6;
  size_t faults_before_;  // repaired before this one was found
  std::vector<Disagreement> found_;
  std::vector<Waited> waited_;
  RecordedVerdict out_;
  bool moving_;
};

}  // namespace

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
