#include "interp/diagnose/charges/peers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/stopped_process.h"

namespace hostir::diagnose {

using model::Member;
using model::MemberState;
using model::Rank;
using model::SendRecv;

namespace {

bool same_size(const model::Call& a, const model::Call& b) {
  return (!a.dtype || !b.dtype || a.dtype == b.dtype) &&
         (!a.total_elems || !b.total_elems || a.total_elems == b.total_elems);
}

}  // namespace

// At most `most` of them.
std::vector<WrongPeer> Peers::readings(const MemberRef& mine, bool passed, size_t most) const {
  std::vector<WrongPeer> out;
  for (const SendRecv& pair : run_.pairs) {
    if (out.size() == most) break;
    const MemberRef other{nullptr, &pair, mine.sends() ? &pair.recv : &pair.send};
    const bool waits = other.member->unfinished() && !other.other_side().arrived();
    if (!waits || !same_size(mine.member->call, other.member->call)) continue;
    // Rank a sends to b what c waits for, or rank b receives from c what a sends.
    const bool same_source = pair.source == mine.pair->source;
    const bool same_target = pair.target == mine.pair->target;
    if (same_source == same_target) continue;
    const bool mine_is_wrong = mine.sends() == same_source;
    const WrongPeer found = mine_is_wrong ? WrongPeer{mine, other} : WrongPeer{other, mine};
    if (plausible(found, passed && found.wrong.member == mine.member)) out.push_back(found);
  }
  return out;
}

std::optional<WrongPeer> Peers::wrong_peer(const MemberRef& mine, bool passed) const {
  const std::vector<WrongPeer> found = readings(mine, passed, 1);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::optional<WrongPeer> Peers::wrong_peer() const {
  for (const Unanswered& call : unanswered()) {
    // `mine` itself is the wrong call: the rank that it names has continued past it.
    const auto found = wrong_peer(call.mine, true);
    if (found && found->wrong.member == call.mine.member) return found;
  }
  // The named rank may be waiting too. Then the call is wrong only if its line met the right rank
  // before.
  for (const SendRecv& pair : run_.pairs) {
    for (const Member* member : {&pair.send, &pair.recv}) {
      const MemberRef mine{nullptr, &pair, member};
      if (!member->unfinished() || mine.other_side().state != MemberState::kNotArrived ||
          !stack_is_known(run_, *member))
        continue;
      const auto found = wrong_peer(mine, true);
      if (found && found->wrong.member == member && met(mine, found->other.member->rank))
        return found;
    }
  }
  return std::nullopt;
}

std::vector<WrongPeer> Peers::alike(const WrongPeer& found) const {
  std::vector<WrongPeer> out;
  for (const SendRecv& pair : run_.pairs) {
    const MemberRef mine{nullptr, &pair, found.wrong.sends() ? &pair.send : &pair.recv};
    const bool waits = mine.member->unfinished() && !mine.other_side().arrived();
    if (!waits || !same_stack(run_, *mine.member, *found.wrong.member)) continue;
    const std::vector<WrongPeer> read = readings(mine, true, 2);
    if (read.size() == 1 && read.front().wrong.member == mine.member) out.push_back(read.front());
  }
  std::ranges::sort(out, {}, [](const WrongPeer& each) { return each.wrong.member->rank; });
  return out;
}

// In a stalled pipeline, sends and recvs of both neighbours lack a counterpart although none of
// them is wrong: the same lines have met these ranks before.
bool Peers::plausible(const WrongPeer& found, bool passed) const {
  const Rank rank = found.wrong.member->rank;
  const Rank named = found.wrong.peer();
  const Rank right = found.other.member->rank;
  const model::RankFacts* facts = run_.find(named);
  if (facts == nullptr || facts->record == model::RecordState::kMissing) return false;
  if (is_stopped(run_, named) || met(found.wrong, named)) return false;
  if (stack_is_known(run_, *found.wrong.member) && met(found.wrong, right)) return true;
  if (others_wait_for(named, found.wrong)) return false;
  if (passed && !exchanged(rank, named)) return true;
  return !exchanged(rank, named) && !exchanged(rank, right);
}

// True if `rank` has nothing in flight, and lacks its part of several calls: it stopped.
bool Peers::others_wait_for(Rank rank, const MemberRef& but) const {
  if (first_unfinished(rank) != nullptr) return false;
  return std::any_of(run_.pairs.begin(), run_.pairs.end(), [&](const SendRecv& pair) {
    for (const Member* member : {&pair.send, &pair.recv}) {
      const MemberRef side{nullptr, &pair, member};
      if (member != but.member && member->unfinished() && side.peer() == rank &&
          !side.other_side().arrived())
        return true;
    }
    return false;
  });
}

// True if the call site of `side` completed an exchange with `peer`.
bool Peers::met(const MemberRef& side, Rank peer) const {
  const auto& line = calls_[static_cast<size_t>(side.member->rank)];
  return std::any_of(line.begin(), line.end(), [&](const MemberRef& ref) {
    return ref.pair != nullptr && ref.sends() == side.sends() && ref.peer() == peer &&
           ref.member->state == MemberState::kCompleted &&
           same_stack(run_, *ref.member, *side.member);
  });
}

bool Peers::exchanged(Rank a, Rank b) const {
  const auto between = [&](Rank from, Rank to) {
    if (run_.find(from) == nullptr) return false;
    const auto& line = calls_[static_cast<size_t>(from)];
    return std::any_of(line.begin(), line.end(), [&](const MemberRef& ref) {
      return ref.pair != nullptr && ref.peer() == to &&
             (ref.pair->send.state == MemberState::kCompleted ||
              ref.pair->recv.state == MemberState::kCompleted);
    });
  };
  return between(a, b) || between(b, a);
}

const MemberRef* Peers::first_unfinished(Rank rank) const {
  if (run_.find(rank) == nullptr) return nullptr;
  const auto& line = calls_[static_cast<size_t>(rank)];
  const auto at = std::find_if(line.begin(), line.end(),
                               [](const MemberRef& ref) { return ref.member->unfinished(); });
  return at == line.end() ? nullptr : &*at;
}

std::vector<Peers::Unanswered> Peers::unanswered() const {
  std::vector<Unanswered> out;
  for (const SendRecv& pair : run_.pairs) {
    for (const Member* member : {&pair.send, &pair.recv}) {
      const MemberRef mine{nullptr, &pair, member};
      if (!member->unfinished() || mine.other_side().state != MemberState::kNotArrived) continue;
      const MemberRef* head = first_unfinished(member->rank);
      if (head == nullptr || head->member->order != member->order) continue;
      const MemberRef* next = first_unfinished(mine.peer());
      if (next == nullptr || next->meeting == nullptr) continue;
      const Member* there = next->meeting->member(member->rank);
      if (there == nullptr) continue;
      // A host that does not block has issued that call, which waits behind this one.
      const bool behind =
          there->unfinished() && member->order && there->order.value_or(0) > *member->order;
      if (there->state != MemberState::kNotArrived && !behind) continue;
      out.push_back({mine, mine.peer(), *next});
    }
  }
  return out;
}

std::optional<PassedBy> Peers::passed_by() const {
  for (const Unanswered& call : unanswered()) {
    MemberRef earlier;
    size_t times = 0;
    for (const MemberRef& ref : calls_[static_cast<size_t>(call.peer)]) {
      if (ref.pair == nullptr || ref.sends() == call.mine.sends()) continue;
      if (ref.peer() != call.mine.member->rank) continue;
      if (!ref.member->arrived() || ref.member->unfinished()) continue;
      if (!same_stack(run_, ref.other_side(), *call.mine.member)) continue;
      earlier = ref;
      ++times;
    }
    if (times == 0) continue;
    if ((times > 1 && left_out_this_round(call, earlier)) || fewer_than_elsewhere(call, earlier))
      return PassedBy{call.mine, call.peer, earlier, times, call.next};
  }
  return std::nullopt;
}

// Both ranks exchanged data before their previous call of the collective in which the peer now
// waits, and only this rank has done so again. A single earlier round would prove little.
bool Peers::left_out_this_round(const Unanswered& call, const MemberRef& earlier) const {
  const Member* mine = call.next.member;
  const MemberRef* before = nullptr;
  for (const MemberRef& ref : calls_[static_cast<size_t>(call.peer)]) {
    if (ref.meeting == nullptr || ref.communicator() != call.next.communicator()) continue;
    if (ref.member == mine) break;
    if (same_stack(run_, *ref.member, *mine)) before = &ref;
  }
  if (before == nullptr || *earlier.member->order > *before->member->order) return false;
  const Member* there = before->meeting->member(call.mine.member->rank);
  const Member& answered = earlier.other_side();
  return there != nullptr && there->arrived() && there->order && answered.order &&
         *answered.order < *there->order && *there->order < *call.mine.member->order;
}

// Between all other pairs of ranks, the same line was called as often as this rank's peer called
// its part of the exchange, and this rank called it less often. Ranks at the end of a pipeline have
// fewer peers, but not fewer calls for each.
bool Peers::fewer_than_elsewhere(const Unanswered& call, const MemberRef& earlier) const {
  // Ring buffers lose different numbers of calls.
  if (some_lost(run_) || !stack_is_known(run_, *earlier.member)) return false;
  // Most calls end here: only a rank that answered less often than it was asked is compared.
  const auto times = [&](Rank rank, const MemberRef& like) {
    const auto& line = calls_[static_cast<size_t>(rank)];
    return std::count_if(line.begin(), line.end(), [&](const MemberRef& ref) {
      return ref.pair != nullptr && ref.pair->source == call.mine.pair->source &&
             ref.pair->target == call.mine.pair->target &&
             same_stack(run_, *ref.member, *like.member);
    });
  };
  if (times(call.peer, earlier) >= times(call.mine.member->rank, call.mine)) return false;
  std::map<std::pair<Rank, Rank>, size_t> answers;  // by source and target
  size_t asked = 0;
  for (const SendRecv& pair : run_.pairs) {
    const bool here =
        pair.source == call.mine.pair->source && pair.target == call.mine.pair->target;
    const Member& answer = earlier.sends() ? pair.send : pair.recv;
    const Member& other = earlier.sends() ? pair.recv : pair.send;
    if (answer.arrived() && same_stack(run_, answer, *earlier.member))
      ++answers[{pair.source, pair.target}];
    if (here && other.arrived() && same_stack(run_, other, *call.mine.member)) ++asked;
  }
  const size_t mine = answers[{call.mine.pair->source, call.mine.pair->target}];
  answers.erase({call.mine.pair->source, call.mine.pair->target});
  return mine < asked && !answers.empty() &&
         std::all_of(answers.begin(), answers.end(),
                     [&](const auto& each) { return each.second == asked; });
}

}  // namespace hostir::diagnose
