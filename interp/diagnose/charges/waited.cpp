#include "interp/diagnose/charges/waited.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::WaitEdge;
using model::WaitGraph;
using model::WaitNode;

namespace {

class WaitedFinder {
 public:
  WaitedFinder(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls) {}

  // Calls in which some rank waits for a rank that is not waiting, oldest first.
  std::vector<Waited> find(const WaitGraph& graph) const {
    std::vector<bool> culprit(graph.nodes.size(), false);
    for (const uint32_t n : graph.culprits) culprit[n] = true;
    std::vector<Waited> out;
    std::map<std::pair<const void*, const void*>, size_t> known;  // by meeting and pair
    std::map<uint32_t, size_t> of_node;                           // of a call
    const auto counts = [&](const WaitEdge& e) {
      return e.communicator.valid() && culprit[e.to] && !graph.nodes[e.to].queue;
    };
    const std::vector<bool> call_counts = calls_with(graph, counts);
    for (const WaitEdge& edge : graph.edges) {
      const WaitNode& from = graph.nodes[edge.from];
      if (is_call(from)) {
        const auto at = of_node.find(edge.from);
        if (at != of_node.end() && counts(edge)) add_awaited(edge, graph, out[at->second]);
        continue;
      }
      if (!counts(edge) && !call_counts[edge.to]) continue;
      const MemberRef call = call_of(run_, from.rank, edge);
      if (call.member == nullptr) continue;
      const auto [at, added] = known.try_emplace({call.meeting, call.pair}, out.size());
      if (added) out.push_back({call, {}, {}, {}});
      insert_once(out[at->second].waiting, from.rank);
      if (call_counts[edge.to])
        of_node.emplace(edge.to, at->second);
      else
        add_awaited(edge, graph, out[at->second]);
    }
    only_idle(out);
    for (Waited& waited : out) {
      waited.nearness = nearness(waited);
      waited.distance = distance(waited);
    }
    std::stable_sort(out.begin(), out.end(), [](const Waited& a, const Waited& b) {
      return std::tuple(b.nearness, a.distance, b.waiting.size()) <
             std::tuple(a.nearness, b.distance, a.waiting.size());
    });
    const auto first = std::find_if(out.begin(), out.end(), [&](const Waited& w) {
      return std::none_of(out.begin(), out.end(),
                          [&](const Waited& other) { return comes_before(other.call, w.call); });
    });
    if (first != out.end()) std::rotate(out.begin(), first, first + 1);
    add_first_without(out);
    return out;
  }

 private:
  static void add_awaited(const WaitEdge& edge, const WaitGraph& graph, Waited& waited) {
    insert_once(edge.known ? waited.absent : waited.unknown, graph.nodes[edge.to].rank);
  }

  // A rank without a record stopped before the first of the calls that others issued and in which
  // they wait for it. Hosts that do not block issue several. A call before one that the rank
  // completed with them is not among these if another one on its group follows: perhaps nobody has
  // looked at its end.
  void add_first_without(std::vector<Waited>& all) const {
    if (all.empty() || !all.front().absent.empty() || all.front().unknown.empty()) return;
    const Rank rank = all.front().unknown.front();
    std::vector<Waited> found;
    for (const Waited& waited : all) {
      if (!waited.absent.empty() || !contains(waited.unknown, rank)) continue;
      for (const Rank waiting : waited.waiting) {
        const MemberRef call = first_without(waiting, rank);
        if (call.member == nullptr) continue;
        const bool known =
            std::ranges::any_of(found, [&](const Waited& w) { return is_same(w.call, call); });
        if (!known) found.push_back(waited_in(call));
      }
    }
    if (found.empty()) return;
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const Waited& w) { return w.waiting.size(); });
    const auto is_first = [&](const Waited& w) {
      return std::ranges::none_of(found, [&](const Waited& other) {
        return is_issued_before(other, w) || comes_before(other.call, w.call);
      });
    };
    const auto at = std::ranges::find_if(found, is_first);
    const Waited first = at == found.end() ? found.front() : *at;
    std::erase_if(all, [&](const Waited& w) { return is_same(w.call, first.call); });
    all.insert(all.begin(), first);
  }
  MemberRef first_without(Rank waiting, Rank rank) const {
    const auto& line = calls_[static_cast<size_t>(waiting)];
    const auto concerns = [&](const MemberRef& ref) {
      return ref.meeting != nullptr ? ref.meeting->member(rank) != nullptr : ref.peer() == rank;
    };
    MemberRef out;
    bool passed = false;
    for (const MemberRef& ref : line) {
      if (!concerns(ref)) continue;
      if (ref.member->state == model::MemberState::kCompleted) passed = true;
      if (!ref.member->unfinished() || some_completed(ref)) continue;
      if (out.member != nullptr && !(passed && ref.communicator() == out.communicator())) continue;
      out = ref;
      passed = false;
    }
    return out;
  }
  static bool some_completed(const MemberRef& ref) {
    return ref.meeting != nullptr &&
           std::ranges::any_of(ref.meeting->members, [](const Member& member) {
             return member.state == model::MemberState::kCompleted;
           });
  }
  static Waited waited_in(const MemberRef& call) {
    Waited out{call, {}, {}, {}};
    const auto add = [&](const Member& member) {
      if (member.unfinished()) insert_once(out.waiting, member.rank);
      if (member.state == model::MemberState::kUnknown) insert_once(out.unknown, member.rank);
    };
    if (call.pair != nullptr) {
      add(call.pair->send);
      add(call.pair->recv);
    } else {
      std::ranges::for_each(call.meeting->members, add);
    }
    return out;
  }
  static bool is_same(const MemberRef& a, const MemberRef& b) {
    return a.meeting == b.meeting && a.pair == b.pair;
  }
  bool is_issued_before(const Waited& one, const Waited& two) const {
    const auto place = [&](const Waited& waited, Rank rank) {
      const auto& line = calls_[static_cast<size_t>(rank)];
      return std::ranges::find_if(line,
                                  [&](const MemberRef& ref) { return is_same(ref, waited.call); });
    };
    return std::ranges::any_of(one.waiting, [&](Rank rank) {
      return contains(two.waiting, rank) && place(one, rank) < place(two, rank);
    });
  }

  // A rank in an unfinished call of its own is not the one that stopped, if another rank is idle.
  void only_idle(std::vector<Waited>& all) const {
    const auto busy = [&](Rank rank) {
      const auto& line = calls_[static_cast<size_t>(rank)];
      return std::any_of(line.begin(), line.end(),
                         [](const MemberRef& ref) { return ref.member->unfinished(); });
    };
    const bool some_idle = std::any_of(all.begin(), all.end(), [&](const Waited& waited) {
      return !std::all_of(waited.absent.begin(), waited.absent.end(), busy);
    });
    if (!some_idle) return;
    for (Waited& waited : all) {
      waited.absent.erase(std::remove_if(waited.absent.begin(), waited.absent.end(), busy),
                          waited.absent.end());
    }
  }

  // Several groups may wait for one rank. Rates how likely a call is its next one: a waiting rank's
  // previous call equals the absent rank's last call (3); the call followed the same line earlier
  // on the absent rank (2); a waiting rank made it after as many calls (1).
  int nearness(const Waited& waited) const {
    if (waited.absent.empty()) return 0;
    const auto& line = calls_[static_cast<size_t>(waited.absent.front())];
    if (line.empty()) return 0;
    const MemberRef& last = line.back();
    int out = 0;
    for (const Rank rank : waited.waiting) {
      const auto& theirs = calls_[static_cast<size_t>(rank)];
      for (size_t i = 1; i < theirs.size(); ++i) {
        const bool same = waited.call.pair != nullptr ? theirs[i].pair == waited.call.pair
                                                      : theirs[i].meeting == waited.call.meeting;
        if (!same) continue;
        size_t first = i;  // of the calls issued together
        while (first > 0 && theirs[first - 1].member->order == theirs[i].member->order) --first;
        for (size_t k = first; k-- > 0;) {
          const MemberRef& before = theirs[k];
          if (before.member->order != theirs[first - 1].member->order) break;
          const bool met =
              last.pair != nullptr ? before.pair == last.pair : before.meeting == last.meeting;
          if (met) return 3;
          if (k + 1 == line.size() && alike(run_, before, last)) out = 1;
        }
      }
    }
    return follows(line, last, waited) ? 2 : out;
  }
  // The distance in calls between the absent rank and the waiting ranks.
  uint64_t distance(const Waited& waited) const {
    if (waited.absent.empty()) return UINT64_MAX;
    const auto made = calls_[static_cast<size_t>(waited.absent.front())].size();
    uint64_t least = UINT64_MAX;
    for (const Rank rank : waited.waiting) {
      const auto& line = calls_[static_cast<size_t>(rank)];
      for (size_t i = 0; i < line.size(); ++i) {
        const bool same = waited.call.pair != nullptr ? line[i].pair == waited.call.pair
                                                      : line[i].meeting == waited.call.meeting;
        if (same) least = std::min<uint64_t>(least, i > made ? i - made : made - i);
      }
    }
    return least;
  }
  bool follows(const std::vector<MemberRef>& line, const MemberRef& last,
               const Waited& waited) const {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      const MemberRef& next = line[i + 1];
      if (!alike(run_, line[i], last) || next.member->order == line[i].member->order) continue;
      if (next.communicator() != waited.call.communicator()) continue;
      if (waited.call.pair == nullptr) {
        if (next.meeting != nullptr && same_stack(run_, *next.member, *waited.call.member))
          return true;
      } else if (next.pair != nullptr && next.pair->source == waited.call.pair->source &&
                 next.pair->target == waited.call.pair->target) {
        return true;
      }
    }
    return false;
  }

  const model::Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
};

}  // namespace

MemberRef call_of(const model::Run& run, Rank rank, const WaitEdge& edge) {
  if (edge.act == WaitEdge::Act::kIssue) {
    const model::Meeting* meeting = run.meeting(edge.communicator, edge.sequence);
    return meeting ? MemberRef{meeting, nullptr, meeting->member(rank)} : MemberRef{};
  }
  for (const model::SendRecv& pair : run.pairs) {
    if (pair.communicator != edge.communicator || pair.ordinal != edge.sequence) continue;
    const bool sends = edge.act == WaitEdge::Act::kReceive;
    const Member& mine = sends ? pair.send : pair.recv;
    const Rank other = sends ? pair.target : pair.source;
    if (mine.rank == rank && mine.unfinished() && other != rank) return {nullptr, &pair, &mine};
  }
  return {};
}

std::vector<Waited> waited_calls(const model::Run& run,
                                 const std::vector<std::vector<MemberRef>>& calls,
                                 const WaitGraph& graph) {
  return WaitedFinder(run, calls).find(graph);
}

}  // namespace hostir::diagnose
