#include "interp/diagnose/charges/divergent_verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_ranks.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/text/comparison_text.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

using model::Rank;
using model::Run;

namespace {

class DivergenceJudge {
 public:
  DivergenceJudge(const Run& run, const std::vector<std::vector<MemberRef>>& calls, bool moving,
                  RecordedVerdict& out)
      : run_(run), calls_(calls), moving_(moving), out_(out) {}

  void judge() {
    if (out_.charge == Charge::kDied || out_.charge == Charge::kStopped) return;
    const std::vector<Rank> unfinished = unfinished_ranks(calls_);
    if (unfinished.empty()) return;
    std::vector<DivergentRank> odd = find_divergent_ranks(run_, calls_);
    if (!odd.empty() && is_extra_pair(odd.front()) && !mends(odd)) odd.clear();
    if (odd.empty() || tells_nothing(odd.front())) odd_twin(odd);
    if (odd.empty()) return;
    std::vector<Rank> ranks;
    for (const DivergentRank& each : odd) insert_once(ranks, each.rank);
    const bool known = out_.culprits == ranks;
    // The wrong peer explains why the rank's calls are odd, and its repair is the right one.
    if (out_.charge == Charge::kWrongPeer && (known || explains(run_, out_.repair))) return;
    const DivergentRank& first = odd.front();
    // The first and last ranks of a ring may differ from the others in sends and recvs. The order
    // of calls that the host did not wait for holds up nobody.
    const bool certain =
        first.proved && !first.or_left_out && first.kind != DivergentRank::Kind::kSwapped &&
        first.theirs.front().call.pair == nullptr && call_at(first).pair == nullptr;
    if (moving_ && !certain) return;
    // A host that returned never comes: that is known, and this may be a guess.
    if (out_.charge == Charge::kNeverCame && !certain && have_returned(out_.culprits)) return;
    // A rank may leave its rounds for a good reason, unless another rank waits for the call that it
    // made there before.
    if (tells_nothing(first)) {
      if (out_.charge == Charge::kNoRecord && !known) also_odd(first);
      return;
    }
    // A stopped or dead rank explains everything, and this is only a guess. A rank that stops
    // leaves the others in any part of their rounds.
    const bool proved = first.proved && first.kind != DivergentRank::Kind::kExtra;
    const bool died = out_.charge == Charge::kNoRecord && !proved;
    const bool stopped = out_.charge == Charge::kNeverCame;
    const bool explained = out_.charge == Charge::kNoRecord || stopped;
    if (first.own_rounds && !known && explained && mends_by_missing() &&
        (died || stopped || !explains(run_, repair_of(odd)))) {
      if (died) also_odd(first);
      return;
    }
    const bool better = known && !explains(run_, out_.repair) && mends(odd);
    if (first.kind == DivergentRank::Kind::kOther && !better && (known || other_call(odd, ranks)))
      return;
    const bool ordered = out_.charge == Charge::kOrder || out_.charge == Charge::kSwapped;
    const bool extra = first.kind == DivergentRank::Kind::kExtra;
    // A call that comes later, too, is not in another order.
    const bool left_out = first.kind == DivergentRank::Kind::kLeftOut && first.proved &&
                          !first.or_swapped && (some_lost(run_) || mends(odd));
    const bool keeps_charge =
        known && !better && (!first.proved || (ordered && !extra && !left_out));
    if (!keeps_charge) {
      RecordedVerdict fresh;
      fresh.waiting = out_.waiting.empty() ? unfinished : std::move(out_.waiting);
      if (known && extra && out_.charge == Charge::kExtraCall) fresh.also = std::move(out_.also);
      out_ = std::move(fresh);
      out_.culprits = ranks;
      accuse(first);
    }
    out_.repair.clear();
    for (const DivergentRank& each : odd) repair(each, first.proved);
    out_.repair_text = repair_text(first);
  }

 private:
  bool have_returned(const std::vector<Rank>& ranks) const {
    return std::ranges::all_of(
        ranks, [&](Rank rank) { return run_.find(rank)->state == model::RankState::kDone; });
  }

  static bool tells_nothing(const DivergentRank& odd) {
    return odd.own_rounds && !odd.proved && odd.awaiting.member == nullptr;
  }

  // Of two ranks that run one program and differ: the one whose repair alone lets all ranks
  // complete.
  void odd_twin(std::vector<DivergentRank>& odd) {
    const bool is_open = out_.culprits.empty() || out_.charge == Charge::kNeverCame ||
                         out_.charge == Charge::kLeftOut;
    if (!is_open || some_lost(run_) || moving_) return;
    const std::vector<DivergentRank> twins = find_divergent_pairs(run_, calls_);
    if (twins.empty()) return;
    // A stopped rank explains everything. But if the rank that waits for it is the odd one of two,
    // and the stopped one is not, it waits in vain.
    const bool explained = !out_.culprits.empty() && explains(run_, out_.repair);
    if (explained && (out_.charge != Charge::kNeverCame || out_.missing.member == nullptr)) return;
    std::vector<DivergentRank> found;
    for (DivergentRank twin : twins) {
      bool mended = mends({twin});
      const DivergentRank::Kind as_found = twin.kind;
      for (const auto kind : {DivergentRank::Kind::kLeftOut, DivergentRank::Kind::kExtra}) {
        const bool has_call = kind == DivergentRank::Kind::kExtra
                                  ? call_at(twin).member != nullptr
                                  : twin.theirs.front().call.member != nullptr;
        if (mended || twin.proved || as_found == kind || !has_call) continue;
        twin.kind = kind;
        mended = twin.proved = mends({twin}, true);
      }
      if (mended) found.push_back(std::move(twin));
    }
    if (found.size() == 2) leave_the_unusual(found);
    if (found.size() == 2) name_call_of_one(found);
    if (found.size() == 1 && (!explained || makes_missing(found[0]))) odd = std::move(found);
  }
  // One of two ranks makes a call that the other does not, and both go on alike: either is wrong,
  // but the call is known.
  void name_call_of_one(const std::vector<DivergentRank>& twins) {
    if (out_.charge != Charge::kDifferentCall || !out_.culprits.empty()) return;
    const bool first = twins[0].kind == DivergentRank::Kind::kExtra;
    const DivergentRank& more = twins[first ? 0 : 1];
    const DivergentRank& less = twins[first ? 1 : 0];
    const bool one_call = more.kind == DivergentRank::Kind::kExtra && more.proved &&
                          less.kind == DivergentRank::Kind::kLeftOut && less.theirs.size() == 1 &&
                          less.theirs.front().call.member == call_at(more).member;
    if (!one_call) return;
    RecordedVerdict fresh;
    fresh.charge = Charge::kExtraCall;
    fresh.waiting = std::move(out_.waiting);
    fresh.suspects = {std::min(more.rank, less.rank), std::max(more.rank, less.rank)};
    fresh.at = call_at(more);
    fresh.communicator = fresh.at.communicator();
    fresh.sequence = fresh.at.sequence();
    fresh.repair = {CallEdit::remove(more.rank, more.at)};
    fresh.repair_text = fmt::format("without this call on rank {}", more.rank);
    fresh.sentence = call_of_one_sentence(run_, fresh.at, less.rank, !less.proved);
    out_ = std::move(fresh);
  }
  // Of two ranks that differ from each other, keeps the one that calls a line twice in a row, which
  // neither rank does anywhere else, if the other rank continues as usual. Any other step that
  // occurs once may be the end of a loop. The two calls at which they differ are not elsewhere: if
  // one rank makes a call more, the other one's call is its next.
  void leave_the_unusual(std::vector<DivergentRank>& twins) const {
    for (const auto& [odd, other] : {std::pair(0, 1), std::pair(1, 0)}) {
      const DivergentRank& one = twins[static_cast<size_t>(odd)];
      const DivergentRank& two = twins[static_cast<size_t>(other)];
      if (repeats(one) && times_of_step(one, two) == 0U &&
          times_of_step(two, one).value_or(0) > 0) {
        twins = {one};
        return;
      }
    }
  }
  bool repeats(const DivergentRank& rank) const {
    const auto& own = calls_[static_cast<size_t>(rank.rank)];
    return rank.at > 0 && rank.at < own.size() && alike(run_, own[rank.at - 1], own[rank.at]);
  }
  // How often the two ranks elsewhere went from one line to another as `rank` does there; nullopt
  // if neither calls the second line elsewhere.
  std::optional<size_t> times_of_step(const DivergentRank& rank, const DivergentRank& other) const {
    const auto& own = calls_[static_cast<size_t>(rank.rank)];
    const size_t at = rank.at;
    if (at == 0 || at >= own.size()) return std::nullopt;
    size_t times = 0;
    bool known = false;
    for (const DivergentRank* each : {&rank, &other}) {
      const auto& line = calls_[static_cast<size_t>(each->rank)];
      for (size_t i = 1; i < line.size(); ++i) {
        const bool here = i == each->at || i == each->at + 1;
        if (here || !alike(run_, line[i], own[at])) continue;
        known = true;
        if (alike(run_, line[i - 1], own[at - 1])) ++times;
      }
    }
    return known ? std::optional(times) : std::nullopt;
  }

  // True if the twin's odd call is the one that the accused rank did not reach, or leads to it.
  bool makes_missing(const DivergentRank& twin) const {
    return twin.rank == out_.missing.member->rank && twin.at <= place_of(calls_, out_.missing);
  }
  bool mends_by_missing() const { return !some_lost(run_) && explains(run_, out_.repair); }
  bool is_extra_pair(const DivergentRank& odd) const {
    return odd.kind == DivergentRank::Kind::kExtra && call_at(odd).pair != nullptr;
  }
  // True if the repair lets all ranks complete, and a smaller repair does not.
  bool mends(const std::vector<DivergentRank>& odd, bool proved = false) {
    return !some_lost(run_) && explains(run_, repair_of(odd, proved)) && !explains(run_, {});
  }
  std::vector<CallEdit> repair_of(const std::vector<DivergentRank>& odd, bool proved = false) {
    std::vector<CallEdit> before = std::exchange(out_.repair, {});
    for (const DivergentRank& each : odd) repair(each, proved || each.proved);
    return std::exchange(out_.repair, std::move(before));
  }

  MemberRef call_at(const DivergentRank& odd) const {
    const auto& line = calls_[static_cast<size_t>(odd.rank)];
    return odd.at < line.size() ? line[odd.at] : line.empty() ? MemberRef{} : line.back();
  }

  // The others' call there. If nobody on record makes it on the rank's own group, that is the
  // rank's own next call, which it swapped.
  MemberRef their_call(const DivergentRank& odd) const {
    const DivergentRank::Call& theirs = odd.theirs.front();
    const auto& line = calls_[static_cast<size_t>(odd.rank)];
    const bool elsewhere = odd.kind == DivergentRank::Kind::kSwapped && odd.at + 1 < line.size() &&
                           theirs.call.communicator() != theirs.communicator;
    return elsewhere ? line[odd.at + 1] : theirs.call;
  }

  void accuse(const DivergentRank& odd) {
    charge(odd);
    const bool extra = odd.kind == DivergentRank::Kind::kExtra && odd.proved;
    if (odd.own_rounds) {
      out_.sentence = own_rounds_sentence(run_, out_, odd.theirs.front().call, odd.awaiting);
    } else if (odd.theirs.front().call.pair != nullptr && !extra) {
      out_.sentence = as_others_sentence(run_, out_, odd.like);
    }
  }
  void charge(const DivergentRank& odd) {
    const MemberRef theirs = their_call(odd);
    out_.at = call_at(odd);
    out_.missing = theirs;
    const bool extra = odd.kind == DivergentRank::Kind::kExtra;
    out_.communicator = extra ? out_.at.communicator() : odd.theirs.front().communicator;
    out_.sequence = extra            ? out_.at.sequence()
                    : odd.own_rounds ? own_number(odd)
                                     : theirs.sequence();
    if (odd.proved && extra) {
      out_.charge = Charge::kExtraCall;
      out_.missing = {};
      if (odd.or_left_out) out_.also = or_next_round(theirs);
    } else if (odd.proved && odd.kind == DivergentRank::Kind::kLeftOut) {
      out_.charge = Charge::kLeftOut;
      if (odd.or_swapped) out_.also = "; or it makes that call after its next one";
    } else if (odd.proved && out_.at.communicator() == odd.theirs.front().communicator) {
      out_.charge = Charge::kSwapped;
    } else {
      out_.charge = Charge::kOrder;
      out_.sentence = order_sentence(run_, out_, odd.proved);
    }
  }

  // The rank may also have left out the rest of its round.
  std::string or_next_round(const MemberRef& theirs) const {
    return fmt::format("; or it left out {}{}, and that call is of its next round",
                       call_name(run_, theirs), at_stack(run_, theirs));
  }

  // The number that the rank's call would have had: `theirs` is of an earlier round.
  uint64_t own_number(const DivergentRank& odd) const {
    const MemberRef& earlier = odd.theirs.front().call;
    const auto& line = calls_[static_cast<size_t>(odd.rank)];
    const auto is_next = [&](const MemberRef& ref) {
      return (ref.pair == nullptr) == (earlier.pair == nullptr) &&
             ref.communicator() == earlier.communicator() &&
             (ref.pair == nullptr ||
              (ref.sends() == earlier.sends() && ref.peer() == earlier.peer()));
    };
    uint64_t last = earlier.sequence();
    for (size_t i = 0; i < line.size(); ++i) {
      if (!is_next(line[i])) continue;
      if (i >= odd.at) return line[i].sequence();
      last = line[i].sequence() + 1;
    }
    return last;
  }

  void repair(const DivergentRank& odd, bool proved) {
    if (odd.kind == DivergentRank::Kind::kExtra || !proved) {
      // If the others make the call later, this rank may too.
      out_.repair.push_back(CallEdit::remove(odd.rank, odd.at));
    } else if (odd.kind == DivergentRank::Kind::kSwapped) {
      out_.repair.push_back(CallEdit::move(odd.rank, odd.at + 1, odd.at));
    } else {
      for (const DivergentRank::Call& each : odd.theirs) {
        if (each.call.member == nullptr) continue;
        out_.repair.push_back(CallEdit::add(odd.rank, odd.at, each.call));
        out_.repair.back().communicator = each.communicator;
      }
    }
  }
  std::string repair_text(const DivergentRank& odd) const {
    const std::string ranks = model::list_of(out_.culprits);
    if (odd.proved && odd.kind == DivergentRank::Kind::kExtra)
      return fmt::format("without this call on {}", ranks);
    if (odd.proved && odd.kind == DivergentRank::Kind::kLeftOut) {
      return fmt::format("with {} on {}",
                         odd.theirs.size() == 1 ? std::string("this call")
                                                : fmt::format("these {} calls", odd.theirs.size()),
                         ranks);
    }
    if (out_.charge == Charge::kSwapped)
      return fmt::format("with these calls in the other order on {}", ranks);
    const MemberRef mine = call_at(odd);
    const MemberRef theirs = their_call(odd);
    const MemberRef made = as_made_by(odd.rank, theirs);
    std::string first = odd.own_rounds ? unnumbered_name(run_, made) : short_call_name(run_, made);
    if (const std::string own = name_on_own_groups(run_, made, out_.culprits, false); !own.empty())
      first = own;
    std::string second = short_call_name(run_, mine);
    if (first == second) {
      first = model::call_text(theirs.member->call);
      second = model::call_text(mine.member->call);
    }
    return fmt::format("with {} before {} on {}", first, second, ranks);
  }

  // Nobody is known to wait for that call, but the rank that would has no record.
  void also_odd(const DivergentRank& odd) {
    const MemberRef& before = odd.theirs.front().call;
    if (before.pair == nullptr || odd.at >= calls_[static_cast<size_t>(odd.rank)].size()) return;
    const Rank peer = before.sends() ? before.pair->target : before.pair->source;
    const model::RankFacts* facts = run_.find(peer);
    if (facts == nullptr || facts->record != model::RecordState::kMissing) return;
    out_.also = fmt::format(
        "; rank {} would explain the hang as well: it calls {}{} without {}{}, which came first in "
        "its earlier rounds",
        odd.rank, short_call_name(run_, call_at(odd)), at_stack(run_, call_at(odd)),
        short_call_name(run_, before), at_stack(run_, before));
  }

  // Another call in the same place: names the wrong side of a mismatch, or a send or recv of the
  // wrong peer. False if it is neither and only delays a call in which others wait.
  bool other_call(const std::vector<DivergentRank>& odd, const std::vector<Rank>& ranks) {
    const DivergentRank& first = odd.front();
    const MemberRef& mine = calls_[static_cast<size_t>(first.rank)][first.at];
    const MemberRef& theirs = first.own_rounds ? first.awaiting : first.theirs.front().call;
    if (first.same_line && mine.pair != nullptr && theirs.pair != nullptr &&
        mine.sends() != theirs.sends()) {
      std::vector<Rank> waiting = std::move(out_.waiting);
      out_ = {};
      out_.waiting = std::move(waiting);
      name_wrong_peer(calls_, mine, theirs, out_);
      return true;
    }
    const bool open = out_.charge == Charge::kNone || out_.charge == Charge::kNeverCame ||
                      (out_.charge == Charge::kOrder && out_.culprits.empty());
    if (open && mine.member->unfinished() && waits_for(theirs, first.rank)) return false;
    const bool undecided =
        out_.charge == Charge::kDifferentCall && out_.culprits.empty() &&
        std::includes(out_.suspects.begin(), out_.suspects.end(), ranks.begin(), ranks.end());
    if (!undecided || mine.meeting == nullptr || theirs.meeting != mine.meeting) return true;
    out_.culprits = ranks;
    out_.suspects.clear();
    out_.at = mine;
    out_.missing = theirs;
    out_.repair.clear();
    for (const DivergentRank& each : odd) change(each);
    return true;
  }
  // True if another rank is in `call` and this one has not come to it.
  static bool waits_for(const MemberRef& call, Rank rank) {
    if (call.member == nullptr || !call.member->unfinished()) return false;
    if (call.pair != nullptr) {
      const model::Member& other = call.other_side();
      return other.rank == rank && !other.arrived();
    }
    const model::Member* mine = call.meeting->member(rank);
    return mine != nullptr && mine->state == model::MemberState::kNotArrived;
  }

  void change(const DivergentRank& odd) {
    const MemberRef& right = odd.theirs.front().call;
    out_.repair.push_back(CallEdit::change(odd.rank, odd.at, right));
    out_.repair_text =
        fmt::format("with {} on {}", repaired_call(out_.at, right), model::list_of(out_.culprits));
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
  bool moving_;
  RecordedVerdict& out_;
};

}  // namespace

void accuse_divergent_ranks(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                            bool moving, RecordedVerdict& verdict) {
  DivergenceJudge(run, calls, moving, verdict).judge();
}

std::vector<Rank> unfinished_ranks(const std::vector<std::vector<MemberRef>>& calls) {
  std::vector<Rank> out;
  for (const auto& line : calls) {
    const auto at = std::find_if(line.begin(), line.end(),
                                 [](const MemberRef& ref) { return ref.member->unfinished(); });
    if (at != line.end()) out.push_back(at->member->rank);
  }
  return out;
}

std::string repaired_call(const MemberRef& wrong, const MemberRef& right) {
  model::Call call = right.member->call;
  if (wrong.pair != nullptr) {
    call.kind = wrong.member->call.kind;
    call.name = wrong.member->call.name;
  }
  return model::call_text(call);
}

void name_wrong_peer(const std::vector<std::vector<MemberRef>>& calls, const MemberRef& wrong,
                     const MemberRef& other, RecordedVerdict& out) {
  out.charge = Charge::kWrongPeer;
  out.culprits = {wrong.member->rank};
  out.at = wrong;
  out.missing = other;
  out.communicator = wrong.communicator();
  out.sequence = wrong.sequence();
  out.repair = {CallEdit::change(wrong.member->rank, place_of(calls, wrong), other)};
  out.repair_text =
      fmt::format("with {} on rank {}",
                  wrong.sends() ? fmt::format("the send to rank {}", other.member->rank)
                                : fmt::format("the recv from rank {}", other.member->rank),
                  wrong.member->rank);
}

}  // namespace hostir::diagnose
