#include "interp/diagnose/charges/order_cycle.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/calls/line_history.h"
#include "interp/diagnose/calls/user_frame.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/engine/shortest_cycle.h"
#include "interp/diagnose/text/comparison_text.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"

namespace hostir::diagnose {

using model::Member;
using model::MemberState;
using model::Rank;
using model::Run;

namespace {

/// Rank `from` cannot complete `call` before rank `to` does its part.
struct Hold {
  Rank to = model::kNoRank;
  MemberRef call;
};

class CycleFinder {
 public:
  CycleFinder(const Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls), heads_(calls.size()), holds_(calls.size()), history_(run, calls) {
    for (size_t r = 0; r < calls.size(); ++r) {
      for (const MemberRef& ref : calls[r]) {
        if (!ref.member->unfinished()) continue;
        const auto& heads = heads_[r];
        if (!heads.empty() && *heads.front().member->order != *ref.member->order) break;
        heads_[r].push_back(ref);
      }
    }
    for (size_t r = 0; r < calls.size(); ++r) {
      for (const MemberRef& ref : heads_[r]) add_holds(r, ref);
    }
  }

  std::optional<OrderCycle> find() {
    std::vector<std::vector<uint32_t>> next(holds_.size());
    for (size_t r = 0; r < holds_.size(); ++r) {
      for (const Hold& hold : holds_[r]) next[r].push_back(static_cast<uint32_t>(hold.to));
    }
    OrderCycle circle;
    for (const uint32_t r : shortest_cycle(std::move(next)))
      circle.ranks.push_back(static_cast<Rank>(r));
    if (circle.ranks.empty()) return std::nullopt;
    describe(circle);
    return circle;
  }

 private:
  void add_holds(size_t rank, const MemberRef& ref) {
    const auto add = [&](Rank to) {
      if (static_cast<size_t>(to) != rank) holds_[rank].push_back({to, ref});
    };
    if (ref.pair == nullptr) {
      std::ranges::for_each(held_in(*ref.meeting), add);
    } else if (is_held(ref.other_side())) {
      add(ref.other_side().rank);
    }
  }
  // Computed once per meeting, because it may have thousands of members, few of which hold it up.
  const std::vector<Rank>& held_in(const model::Meeting& meeting) {
    const auto [at, added] = held_.try_emplace(&meeting);
    if (!added) return at->second;
    for (const Member& member : meeting.members) {
      if (is_held(member)) at->second.push_back(member.rank);
    }
    return at->second;
  }
  bool is_held(const Member& member) const {
    if (run_.find(member.rank) == nullptr) return false;
    const auto& heads = heads_[static_cast<size_t>(member.rank)];
    const bool is_head = std::any_of(heads.begin(), heads.end(),
                                     [&](const MemberRef& head) { return head.member == &member; });
    return member.state == MemberState::kNotArrived || (member.unfinished() && !is_head);
  }

  const Hold& hold_between(Rank from, Rank to) const {
    const auto& list = holds_[static_cast<size_t>(from)];
    return *std::find_if(list.begin(), list.end(), [&](const Hold& h) { return h.to == to; });
  }

  void describe(OrderCycle& circle) {
    const size_t n = circle.ranks.size();
    std::vector<CircleStep> steps;
    for (size_t i = 0; i < n; ++i) {
      const Rank from = circle.ranks[i];
      const Rank to = circle.ranks[(i + 1) % n];
      steps.push_back({from, to, hold_between(from, to).call});
    }
    circle.sentence = circle_text(run_, steps);
    size_t fix = n - 1;
    find_odd(circle, fix);
    const MemberRef usual = circle.odd.empty() ? find_new_step(circle, fix) : MemberRef{};
    const Rank rank = circle.ranks[fix];
    const Rank before = circle.ranks[(fix + n - 1) % n];
    circle.at = hold_between(rank, circle.ranks[(fix + 1) % n]).call;
    circle.before = hold_between(before, rank).call;
    if (circle.odd.size() == 1) awaited_on_another_group(circle);
    if (usual.member != nullptr) {
      RecordedVerdict told;
      told.charge = Charge::kOrder;
      told.culprits = circle.odd;
      told.at = circle.at;
      circle.sentence =
          own_rounds_sentence(run_, told, usual, circle.before) + "; " + circle.sentence;
    } else if (!circle.odd.empty()) {
      RecordedVerdict told;
      told.culprits = circle.odd;
      told.at = circle.at;
      told.missing = circle.before;
      circle.sentence = order_sentence(run_, told, !never_made(circle)) + "; " + circle.sentence;
    }
    if (circle.odd.empty() && one_more(circle)) return;
    repair(circle, rank);
    if (circle.odd.empty() && !some_lost(run_) && !explains(run_, circle.repair))
      swap_everywhere(circle, rank);
  }

  // All stages of a pipeline may make a send and the next recv in one order, from the same two
  // lines. Then the repair of one cycle only leads to the next one.
  void swap_everywhere(OrderCycle& circle, Rank rank) const {
    if (circle.at.pair == nullptr || circle.before.pair == nullptr ||
        !stack_is_known(run_, *circle.at.member))
      return;
    const Member& late = *side_of(circle.before, rank);
    const auto is_late = [&](const MemberRef& ref) {
      return ref.pair != nullptr && ref.sends() != circle.before.sends() && late.arrived() &&
             same_stack(run_, *ref.member, late);
    };
    std::vector<CallEdit> edits;
    std::vector<Rank> ranks;
    for (const auto& line : calls_) {
      for (size_t i = 0; i < line.size(); ++i) {
        const MemberRef& early = line[i];
        if (!early.member->unfinished() || early.pair == nullptr ||
            early.sends() != circle.at.sends() ||
            !same_stack(run_, *early.member, *circle.at.member))
          continue;
        const Rank each = early.member->rank;
        if (i + 1 < line.size() && is_late(line[i + 1])) {
          edits.push_back(CallEdit::move(each, i + 1, i));
        } else if (const MemberRef call = head_like(circle.before, each);
                   i + 1 == line.size() && call.member != nullptr) {
          edits.push_back(CallEdit::add(each, i, call));
        } else {
          continue;
        }
        insert_once(ranks, each);
      }
    }
    if (ranks.size() < 2 || !explains(run_, edits)) return;
    circle.repair = std::move(edits);
    circle.repair_text = fmt::format(
        "with the next {} before each {}{} on {}", circle.before.sends() ? "recv" : "send",
        circle.at.sends() ? "send" : "recv", at_stack(run_, circle.at), model::list_of(ranks));
  }
  // The call of that line in which a rank waits for `rank`; empty if there is none.
  MemberRef head_like(const MemberRef& call, Rank rank) const {
    for (const auto& heads : heads_) {
      for (const MemberRef& head : heads) {
        if (head.pair != nullptr && head.sends() == call.sends() && head.peer() == rank &&
            !head.other_side().arrived() && same_stack(run_, *head.member, *call.member))
          return head;
      }
    }
    return {};
  }

  // The only send or recv of the cycle has no counterpart, and the rank that would make it waits in
  // a collective: perhaps it is one too many. The repair without it needs no call that nobody made.
  bool one_more(OrderCycle& circle) const {
    const size_t n = circle.ranks.size();
    std::optional<size_t> alone;
    for (size_t i = 0; i < n; ++i) {
      if (hold_between(circle.ranks[i], circle.ranks[(i + 1) % n]).call.pair == nullptr) continue;
      if (alone) return false;
      alone = i;
    }
    if (!alone) return false;
    const Rank rank = circle.ranks[*alone];
    const Rank other = circle.ranks[(*alone + 1) % n];
    const MemberRef& call = hold_between(rank, other).call;
    const std::vector<CallEdit> without = {CallEdit::remove(rank, place_of(*call.member))};
    if (some_lost(run_) || !explains(run_, without)) return false;
    circle.at = call;
    circle.before = hold_between(other, circle.ranks[(*alone + 2) % n]).call;
    circle.sentence += fmt::format(
        "; rank {0} has made no {1} for the {2}: either rank {3} makes one {2} more, or rank {0} "
        "comes to its {1} later",
        other, call.sends() ? "recv" : "send", call.sends() ? "send" : "recv", rank);
    circle.repair = without;
    circle.repair_text = fmt::format("without {} on rank {}", short_call_name(run_, call), rank);
    return true;
  }

  // If another rank waits for the odd rank in the same call on another group, the odd rank should
  // have made that call, even if the cycle leads through a later one.
  void awaited_on_another_group(OrderCycle& circle) const {
    const Rank odd = circle.odd.front();
    for (const model::Meeting& meeting : run_.meetings) {
      const Member* mine = meeting.member(odd);
      if (mine == nullptr || mine->state != MemberState::kNotArrived) continue;
      for (const Member& member : meeting.members) {
        const MemberRef ref{&meeting, nullptr, &member};
        if (!member.unfinished() || !differ_in_group(run_, circle.at, ref)) continue;
        circle.before = ref;
        return;
      }
    }
  }

  bool never_made(const OrderCycle& circle) const {
    return std::none_of(circle.odd.begin(), circle.odd.end(), [&](Rank rank) {
      const Member* mine = side_of(circle.before, rank);
      return mine != nullptr && mine->arrived();
    });
  }

  // For a cycle of two collectives: finds the minority of ranks, by which of the two they made
  // first.
  void find_odd(OrderCycle& circle, size_t& fix) {
    if (circle.ranks.size() != 2) return;
    const MemberRef& x = hold_between(circle.ranks[0], circle.ranks[1]).call;
    const MemberRef& y = hold_between(circle.ranks[1], circle.ranks[0]).call;
    if (x.meeting == nullptr || y.meeting == nullptr) return;
    std::vector<Rank> x_first;
    std::vector<Rank> y_first;
    for (const Member& mine : x.meeting->members) {
      const Member* other = y.meeting->member(mine.rank);
      if (other == nullptr) continue;
      const bool both = mine.arrived() && other->arrived() && mine.order && other->order;
      if (both ? *mine.order < *other->order : mine.arrived()) {
        x_first.push_back(mine.rank);
      } else if (both || other->arrived()) {
        y_first.push_back(mine.rank);
      }
    }
    history_.vote(x, y, x_first, y_first);
    history_.vote(y, x, y_first, x_first);
    if (x_first.size() == y_first.size()) {
      const bool x_breaks = history_.breaks_its_rounds(x, y);
      if (x_breaks == history_.breaks_its_rounds(y, x)) return;
      fix = x_breaks ? 0 : 1;
      circle.odd = {circle.ranks[fix]};
      return;
    }
    circle.odd = x_first.size() < y_first.size() ? x_first : y_first;
    std::sort(circle.odd.begin(), circle.odd.end());
    fix = x_first.size() < y_first.size() ? 0 : 1;
  }

  // For a cycle of sends and recvs: the only rank that never before made its call after its
  // previous one. Of two ranks, it may have come to the end of its loop, and the other one makes a
  // round too many. Returns the call that it made there before; empty if there is no such rank.
  MemberRef find_new_step(OrderCycle& circle, size_t& fix) const {
    const size_t n = circle.ranks.size();
    if (n < 3) return {};
    for (size_t i = 0; i < n; ++i) {
      if (hold_between(circle.ranks[i], circle.ranks[(i + 1) % n]).call.pair == nullptr) return {};
    }
    MemberRef usual;
    for (size_t r = 0; r < heads_.size(); ++r) {
      if (heads_[r].empty()) continue;
      const auto rank = static_cast<Rank>(r);
      const LineHistory::Step step = history_.step_to(rank, place_of(*heads_[r].front().member));
      if (step.known) continue;
      const auto in_circle = std::ranges::find(circle.ranks, rank);
      if (usual.member != nullptr || step.usual.member == nullptr ||
          in_circle == circle.ranks.end())
        return {};
      usual = step.usual;
      fix = static_cast<size_t>(in_circle - circle.ranks.begin());
    }
    if (usual.member != nullptr) circle.odd = {circle.ranks[fix]};
    return usual;
  }

  size_t place_of(const Member& member) const {
    return diagnose::place_of(calls_, {nullptr, nullptr, &member});
  }

  static const Member* side_of(const MemberRef& ref, Rank rank) {
    if (ref.meeting != nullptr) return ref.meeting->member(rank);
    if (ref.pair->send.rank == rank) return &ref.pair->send;
    return ref.pair->recv.rank == rank ? &ref.pair->recv : nullptr;
  }

  // Repaired ranks first make the call that the previous rank waits for. A rank that never reached
  // a call of the cycle makes it at the end.
  void repair(OrderCycle& circle, Rank rank) {
    const std::vector<Rank> fixed = circle.odd.empty() ? alike(circle, rank) : circle.odd;
    for (const Rank each : fixed) {
      const Member* early = side_of(circle.at, each);
      if (early == nullptr || !early->arrived()) continue;
      first_there(circle, each, *early, circle.before);
    }
    const bool enough = !circle.odd.empty() && !some_lost(run_) && explains(run_, circle.repair);
    for (size_t i = 0; !enough && i < circle.ranks.size(); ++i) {
      const Rank from = circle.ranks[i];
      const MemberRef& call = hold_between(from, circle.ranks[(i + 1) % circle.ranks.size()]).call;
      add_absent(circle, call, fixed);
    }
    circle.repair_text = fmt::format(
        "with {} before {} on {}", short_call_name(run_, as_made_by(fixed[0], circle.before)),
        short_call_name(run_, as_made_by(fixed[0], circle.at)), model::list_of(fixed));
    std::vector<Rank> others;
    for (const CallEdit& edit : circle.repair) {
      const bool fixes = std::count(fixed.begin(), fixed.end(), edit.rank) != 0;
      if (edit.kind == CallEdit::Kind::kAdd && edit.pattern.pair != nullptr && !fixes)
        insert_once(others, edit.rank);
    }
    if (others.empty()) return;
    circle.repair_text += fmt::format(", and with the other side of the sends and recvs made by {}",
                                      model::list_of(others));
  }
  // The rank, and the others that make the same two calls in its order and have come as far.
  std::vector<Rank> alike(const OrderCycle& circle, Rank rank) const {
    std::vector<Rank> out = {rank};
    if (circle.at.meeting == nullptr || circle.before.meeting == nullptr) return out;
    for (const Member& member : circle.at.meeting->members) {
      const Member* before = circle.before.meeting->member(member.rank);
      if (!member.unfinished() || before == nullptr) continue;
      const bool later = before->arrived() && before->order && *before->order > *member.order;
      if (later || before->state == MemberState::kNotArrived) insert_once(out, member.rank);
    }
    return out;
  }
  void first_there(OrderCycle& circle, Rank rank, const Member& early, const MemberRef& call) {
    const Member* mine = side_of(call, rank);
    const bool made = mine != nullptr && mine->arrived() && mine->order;
    circle.repair.push_back(made ? CallEdit::move(rank, place_of(*mine), place_of(early))
                                 : CallEdit::add(rank, place_of(early), call));
  }
  void add_absent(OrderCycle& circle, const MemberRef& call, const std::vector<Rank>& fixed) {
    const auto add = [&](const Member& member) {
      if (member.state != MemberState::kNotArrived) return;
      const bool same = call.meeting == circle.before.meeting && call.pair == circle.before.pair;
      if (same && std::count(fixed.begin(), fixed.end(), member.rank) != 0) return;
      const bool done =
          std::any_of(circle.repair.begin(), circle.repair.end(), [&](const CallEdit& e) {
            return e.kind == CallEdit::Kind::kAdd && e.rank == member.rank &&
                   e.pattern.meeting == call.meeting && e.pattern.pair == call.pair;
          });
      if (done) return;
      const size_t end = calls_[static_cast<size_t>(member.rank)].size();
      circle.repair.push_back(CallEdit::add(member.rank, end, call));
    };
    if (call.meeting != nullptr) {
      for (const Member& member : call.meeting->members) add(member);
    } else {
      add(call.pair->send);
      add(call.pair->recv);
    }
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
  std::vector<std::vector<MemberRef>> heads_;
  std::map<const model::Meeting*, std::vector<Rank>> held_;
  std::vector<std::vector<Hold>> holds_;
  LineHistory history_;
};

}  // namespace

std::optional<OrderCycle> find_order_cycle(const Run& run,
                                           const std::vector<std::vector<MemberRef>>& calls) {
  return CycleFinder(run, calls).find();
}

void accuse_order_cycle(const Run& run, const OrderCycle& circle, RecordedVerdict& verdict) {
  verdict.charge = Charge::kOrder;
  verdict.culprits = circle.odd;
  if (circle.odd.empty()) verdict.suspects = circle.ranks;
  verdict.waiting = circle.ranks;
  verdict.at = circle.at;
  verdict.missing = circle.before;
  verdict.communicator = circle.at.communicator();
  verdict.sequence = circle.at.sequence();
  verdict.sentence = circle.sentence;
  verdict.repair = circle.repair;
  verdict.repair_text = circle.repair_text;
  const model::Communicator* facts = run.find(verdict.communicator);
  if (!circle.odd.empty() || !some_lost(run) || facts == nullptr || !facts->members) return;
  // An extra call of another member shifts the numbers of all later calls.
  for (const Rank rank : *facts->members) insert_once(verdict.suspects, rank);
  verdict.sentence += "; earlier calls are not on record, so another rank may have caused it";
}

}  // namespace hostir::diagnose
