#include "interp/diagnose/charges/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_ranks.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/text/comparison_text.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

namespace {

using model::Rank;
using model::Run;

class Doubt {
 public:
  Doubt(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
        const RecordedVerdict& verdict, const std::set<Rank>& waiting)
      : run_(run),
        calls_(calls),
        call_(verdict.missing),
        idle_(verdict.culprits.front()),
        waits_(verdict.missing.member->rank),
        line_(calls[static_cast<size_t>(waits_)]),
        at_(place_of(calls, verdict.missing)),
        waiting_(waiting) {}

  // True if only the two ranks are involved, and the idle one waits at most for the other.
  bool applies() const {
    if (idle_ == waits_ || at_ >= line_.size()) return false;
    if (call_.meeting != nullptr && members_on_record(run_, *call_.meeting) != 2) return false;
    return std::ranges::all_of(calls_[static_cast<size_t>(idle_)], [&](const MemberRef& ref) {
      return !ref.member->unfinished() || may_wait_for_launch(ref);
    });
  }
  bool holds() const {
    if (calls_[static_cast<size_t>(idle_)].empty()) return some_lost(run_);
    return is_held() || has_passed() || is_its_own_line() || repeated_one() ||
           repeated_in_rounds() || is_new_to_it() || is_unknowable() ||
           (only_one_waits() && leaves_its_rounds()) ||
           is_ahead_of_its_program(run_, calls_, idle_, call_, waiting_);
  }
  Rank waits() const { return waits_; }
  // True if the idle rank did not stop: it waits for a call that in turn waits for it.
  bool is_held() const {
    return std::ranges::any_of(calls_[static_cast<size_t>(idle_)], [&](const MemberRef& ref) {
      return ref.member->unfinished() && may_wait_for_launch(ref);
    });
  }

 private:
  // True if the other side of this send or recv was issued together with the call. If calls were
  // lost, the sides may have been paired wrongly, and this side may wait for the waiting rank
  // anyway.
  bool may_wait_for_launch(const MemberRef& ref) const {
    if (ref.pair == nullptr || call_.pair == nullptr) return false;
    if (some_lost(run_)) return true;
    const model::Member& other = ref.other_side();
    return other.rank == waits_ && other.arrived() && other.order == call_.member->order;
  }
  // True if the waiting rank called this line once and has completed later calls, and the idle rank
  // never called the line.
  bool is_its_own_line() const {
    if (call_.meeting == nullptr || !stack_is_known(run_, *call_.member)) return false;
    const auto here = [&](const MemberRef& ref) {
      return same_stack(run_, *ref.member, *call_.member);
    };
    return std::ranges::none_of(calls_[static_cast<size_t>(idle_)], here) &&
           std::ranges::count_if(line_, here) == 1 &&
           std::any_of(line_.begin() + static_cast<ptrdiff_t>(at_) + 1, line_.end(),
                       [](const MemberRef& ref) {
                         return ref.member->state == model::MemberState::kCompleted;
                       });
  }

  // True if all others have made all their calls, or wait behind the waiting rank's send or recv,
  // and the numbers of calls show nothing more.
  bool is_unknowable() const {
    return some_lost(run_) &&
           (only_one_waits() || (call_.pair != nullptr && !another_waits_for_idle()));
  }
  bool another_waits_for_idle() const {
    const auto waits = [&](const MemberRef& ref) {
      if (!ref.member->unfinished() || ref.member->rank == waits_) return false;
      const model::Member* there =
          ref.meeting != nullptr ? ref.meeting->member(idle_) : &ref.other_side();
      return there != nullptr && there->rank == idle_ && !there->arrived();
    };
    return std::ranges::any_of(calls_,
                               [&](const auto& line) { return std::ranges::any_of(line, waits); });
  }

  // Counts calls between the two ranks: the waiting one called this line once more than every other
  // line, and the idle one called all lines equally often. The waiting one once made the call twice
  // in a row, or before always made the other calls of the round first.
  bool repeated_one() const {
    if (call_.pair == nullptr) return false;
    size_t repeats = 0;
    for (size_t i = 0; i < at_; ++i)
      if (alike_pair(line_[i], call_) && alike_pair(line_[i + 1], call_)) ++repeats;
    if (repeats != 1 && !comes_last_in_rounds()) return false;
    std::vector<size_t> mine = times_by_line(waits_, idle_);
    const size_t own = calls_of_line(waits_, idle_, call_);
    const std::vector<size_t> theirs = times_by_line(idle_, waits_);
    const auto own_place = std::find(mine.begin(), mine.end(), own);
    if (mine.size() < 2 || own < 2 || own_place == mine.end() || theirs.size() < 2) return false;
    mine.erase(own_place);
    const auto all = [&](const std::vector<size_t>& counts) {
      return std::all_of(counts.begin(), counts.end(), [&](size_t n) { return n + 1 == own; });
    };
    return all(mine) && all(theirs);
  }

  // Between two calls of the collective each rank always makes the same calls, except that the
  // waiting one once made the collective twice in a row.
  bool repeated_in_rounds() const {
    if (call_.meeting == nullptr) return false;
    std::vector<Round> mine = rounds(waits_);
    const std::vector<Round> theirs = rounds(idle_);
    if (mine.size() != theirs.size() + 1 || theirs.size() < 2) return false;
    const auto repeated = std::ranges::find_if(mine, &Round::empty);
    if (repeated == mine.end()) return false;
    mine.erase(repeated);
    return repeat_one(mine) && repeat_one(theirs) && mine.front().size() == theirs.front().size();
  }
  using Round = std::span<const MemberRef>;
  std::vector<Round> rounds(Rank rank) const {
    std::vector<Round> out;
    const auto& line = calls_[static_cast<size_t>(rank)];
    std::optional<size_t> begin;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i].meeting == nullptr || !alike(line[i], call_)) continue;
      if (begin) out.push_back(Round(line).subspan(*begin, i - *begin));
      begin = i + 1;
    }
    return out;
  }
  bool repeat_one(const std::vector<Round>& rounds) const {
    return std::ranges::all_of(rounds, [&](const Round& round) {
      return !round.empty() &&
             std::ranges::equal(round, rounds.front(),
                                [&](const auto& a, const auto& b) { return alike(a, b); });
    });
  }

  bool comes_last_in_rounds() const {
    size_t own = 0;
    std::vector<std::pair<MemberRef, size_t>> others;  // calls of one line, and their number
    for (size_t i = 0; i < at_; ++i) {
      const MemberRef& ref = line_[i];
      if (ref.pair == nullptr || ref.peer() != idle_) continue;
      if (alike(ref, call_)) {
        ++own;
        if (std::ranges::any_of(others, [&](const auto& o) { return o.second < own; }))
          return false;
        continue;
      }
      const auto known =
          std::ranges::find_if(others, [&](const auto& o) { return alike(o.first, ref); });
      if (known != others.end()) {
        ++known->second;
      } else if (own > 0) {
        return false;
      } else {
        others.emplace_back(ref, 1);
      }
    }
    return !others.empty();
  }
  bool alike_pair(const MemberRef& a, const MemberRef& b) const {
    return a.pair != nullptr && b.pair != nullptr && alike(a, b) && a.peer() == b.peer();
  }
  size_t calls_of_line(Rank rank, Rank peer, const MemberRef& like) const {
    const auto& line = calls_[static_cast<size_t>(rank)];
    return static_cast<size_t>(std::count_if(line.begin(), line.end(), [&](const MemberRef& ref) {
      return ref.pair != nullptr && ref.peer() == peer && alike(ref, like);
    }));
  }
  // Counts a rank's sends and recvs with `peer`.
  std::vector<size_t> times_by_line(Rank rank, Rank peer) const {
    std::vector<MemberRef> lines;
    for (const MemberRef& ref : calls_[static_cast<size_t>(rank)]) {
      if (ref.pair == nullptr || ref.peer() != peer) continue;
      if (std::none_of(lines.begin(), lines.end(), [&](const auto& l) { return alike(l, ref); }))
        lines.push_back(ref);
    }
    std::vector<size_t> out;
    for (const MemberRef& line : lines) out.push_back(calls_of_line(rank, peer, line));
    return out;
  }

  // True if the idle rank runs the same program, continued without the call, and never called its
  // line.
  bool is_new_to_it() const {
    const auto& idle = calls_[static_cast<size_t>(idle_)];
    return goes_on_without(run_, calls_, idle_, call_) &&
           std::none_of(idle.begin(), idle.end(), [&](const MemberRef& ref) {
             return same_site(run_, *ref.member, *call_.member);
           });
  }
  // True if both ranks made a call that comes after this one on the waiting rank.
  bool has_passed() const {
    for (size_t i = at_ + 1; i < line_.size(); ++i) {
      const MemberRef& later = line_[i];
      if (later.member->order == call_.member->order) continue;
      const model::Member* there =
          later.meeting != nullptr ? later.meeting->member(idle_) : &later.other_side();
      if (there != nullptr && there->rank == idle_ && there->arrived()) return true;
    }
    return false;
  }

  // True if nobody else waits, except for another accused rank.
  bool only_one_waits() const {
    const std::vector<Rank> unfinished = unfinished_ranks(calls_);
    return std::ranges::all_of(unfinished, [&](Rank rank) { return waiting_.contains(rank); });
  }

  bool alike(const MemberRef& a, const MemberRef& b) const {
    return same_direction(a, b) && a.communicator() == b.communicator() &&
           same_site(run_, *a.member, *b.member);
  }
  // Both ranks made the call before, and until now another call of the rank always followed it. A
  // collective that is repeated at once for the first time may also be an extra call.
  bool leaves_its_rounds() const {
    if (at_ == 0) return false;
    const MemberRef& before = line_[at_ - 1];
    const MemberRef& last = calls_[static_cast<size_t>(idle_)].back();
    const bool in_step =
        before.meeting != nullptr ? before.meeting == last.meeting : before.pair == last.pair;
    if (!in_step) return false;
    bool known = false;
    bool other = false;
    for (size_t i = 0; i + 1 < at_; ++i) {
      known = known || alike(line_[i], call_);
      if (!alike(line_[i], before)) continue;
      if (alike(line_[i + 1], call_)) return false;
      other = true;
    }
    known = known || alike(before, call_);
    const bool repeats = call_.meeting != nullptr && alike(before, call_);
    return known && (other || repeats);
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
  const MemberRef& call_;
  Rank idle_;
  Rank waits_;
  const std::vector<MemberRef>& line_;  // of the waiting rank
  size_t at_;                           // of the call in it
  const std::set<Rank>& waiting_;       // for an accused rank each
};

}  // namespace

void doubt_never_came(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                      RecordedVerdict& verdict) {
  if (verdict.charge != Charge::kNeverCame || !verdict.also.empty()) return;
  // True if the repair adds a call to each accused rank.
  std::vector<RecordedVerdict> charges;
  std::set<Rank> waiting;
  for (const CallEdit& edit : verdict.repair) {
    if (edit.kind != CallEdit::Kind::kAdd || edit.pattern.member == nullptr) return;
    RecordedVerdict& charge = charges.emplace_back();
    charge.charge = Charge::kNeverCame;
    charge.culprits = {edit.rank};
    charge.missing = edit.pattern;
    charge.at = last_call(calls, edit.rank);
    waiting.insert(edit.pattern.member->rank);
  }
  // Several ranks never reached one call, so its other members agree that it should be made.
  if (charges.size() != waiting.size()) return;
  std::string sentence;
  bool doubted = false;
  for (const RecordedVerdict& charge : charges) {
    const Doubt doubt(run, calls, charge, waiting);
    const bool holds = doubt.applies() && doubt.holds();
    if (!sentence.empty()) sentence += "; and ";
    sentence += holds ? either_sentence(run, charge) : sentence_of(run, calls, charge);
    if (!holds) continue;
    doubted = true;
    std::erase(verdict.culprits, charge.culprits.front());
    insert_once(verdict.suspects, charge.culprits.front());
    insert_once(verdict.suspects, doubt.waits());
    if (!doubt.is_held()) continue;
    for (const Rank rank : unfinished_ranks(calls)) insert_once(verdict.suspects, rank);
  }
  if (doubted) verdict.sentence = std::move(sentence);
}

namespace {

void charge_with_extra(const std::vector<std::vector<MemberRef>>& calls, const MemberRef& call,
                       RecordedVerdict& verdict) {
  const Rank rank = call.member->rank;
  verdict.charge = Charge::kExtraCall;
  verdict.culprits = {rank};
  verdict.at = call;
  verdict.missing = {};
  verdict.communicator = call.communicator();
  verdict.sequence = call.sequence();
  verdict.sentence.clear();
  verdict.repair = {CallEdit::remove(rank, place_of(calls, call))};
  verdict.repair_text = fmt::format("without this call on rank {}", rank);
}

// The rank's collective that met calls of another line, if its next collective on that group comes
// from that other line.
std::optional<MemberRef> one_ahead(const Run& run, const std::vector<MemberRef>& line) {
  for (size_t i = 0; i < line.size(); ++i) {
    const MemberRef& mine = line[i];
    if (mine.meeting == nullptr || !stack_is_known(run, *mine.member)) continue;
    const auto next = std::find_if(
        line.begin() + static_cast<ptrdiff_t>(i) + 1, line.end(), [&](const MemberRef& ref) {
          return ref.meeting != nullptr && ref.communicator() == mine.communicator();
        });
    if (next == line.end() || same_stack(run, *next->member, *mine.member)) continue;
    size_t others = 0;
    const bool ahead =
        std::all_of(mine.meeting->members.begin(), mine.meeting->members.end(),
                    [&](const model::Member& member) {
                      if (&member == mine.member || !member.arrived()) return true;
                      ++others;
                      return stack_is_known(run, member) && same_stack(run, member, *next->member);
                    });
    if (ahead && others > 1) return mine;
  }
  return std::nullopt;
}

// True if another rank that is not accused waits in the last call of `rank` on the group, too.
bool waits_with_others(const Run& run, const model::Member& odd, const RecordedVerdict& verdict) {
  const model::CallRange* range = run.range(odd.rank, verdict.missing.communicator());
  const model::Meeting* last = range == nullptr || !range->last
                                   ? nullptr
                                   : run.meeting(verdict.missing.communicator(), *range->last);
  return last != nullptr && std::ranges::any_of(last->members, [&](const model::Member& member) {
           return member.rank != odd.rank && member.unfinished() &&
                  !contains(verdict.culprits, member.rank);
         });
}

}  // namespace

void accuse_extra_instead(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                          RecordedVerdict& verdict) {
  const model::Meeting* meeting = verdict.missing.meeting;
  if (verdict.charge != Charge::kLeftOut || verdict.count != 1 || verdict.culprits.empty()) return;
  if (meeting == nullptr) {
    const auto found = one_ahead(run, calls[static_cast<size_t>(verdict.culprits.front())]);
    if (!found || verdict.culprits.size() != 1 || some_lost(run)) return;
    RecordedVerdict extra = verdict;
    charge_with_extra(calls, *found, extra);
    if (explains(run, extra.repair)) verdict = std::move(extra);
    return;
  }
  const model::Member* accused = meeting->member(verdict.culprits.front());
  if (accused == nullptr || !accused->arrived()) return;
  const model::Member* odd = nullptr;
  size_t odds = 0;
  size_t alike = 0;
  for (const model::Member& member : meeting->members) {
    if (!member.arrived()) continue;
    if (!stack_is_known(run, member)) return;
    const bool same = same_stack(run, member, *accused);
    ++(same ? alike : odds);
    if (!same) odd = &member;
  }
  if (odds != 1 || alike * 2 <= meeting->members.size()) return;
  // A call that all completed shifts nothing if its rank waits where others wait.
  if (completed_by_all({meeting, nullptr, odd}) && waits_with_others(run, *odd, verdict)) return;
  charge_with_extra(calls, {meeting, nullptr, odd}, verdict);
}

}  // namespace hostir::diagnose
