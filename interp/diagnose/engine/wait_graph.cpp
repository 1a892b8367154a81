// 1. Add a node per host, and per queue with unfinished work.
// 2. Add edges from each blocked host to the queue of its event, and from the head of each queue to
//    the nodes that must act first.
// 3. Find the culprits (waited for, not waiting) or, without one, the shortest cycle.
// 4. Write the sentence.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/engine/queues.h"
#include "interp/diagnose/engine/shortest_cycle.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

namespace {

using model::Member;
using model::MemberState;
using model::Rank;
using model::RankFacts;
using model::RankState;
using model::Run;
using model::Task;
using model::WaitEdge;
using model::WaitGraph;
using model::WaitNode;
using Why = WaitNode::Why;

Why reason_of(const RankFacts& rank) {
  switch (rank.state) {
    case RankState::kUnknown:
      return Why::kUnknown;
    case RankState::kNotStarted:
      return Why::kNeverStarted;
    case RankState::kRunning:
      return Why::kRunning;
    case RankState::kBlocked:
      return Why::kWaits;
    case RankState::kFrozen:
      return Why::kFrozen;
    case RankState::kDone:
      return Why::kFinished;
    case RankState::kDead:
      return Why::kDead;
    case RankState::kRemote:
      return Why::kRemote;
  }
  return Why::kUnknown;
}

// More have a node between them and the ranks that wait for them.
constexpr size_t kMostTargets = 32;

class GraphBuilder {
 public:
  GraphBuilder(const Run& run, model::Motion motion, WaitGraph& graph)
      : run_(run), motion_(motion), queues_(run), graph_(graph) {}

  void build() {
    const auto ranks = static_cast<Rank>(run_.ranks.size());
    for (Rank r = 0; r < ranks; ++r) add_host(r);
    for (const auto& [key, head] : queues_.heads()) add_queue(key, head);
    for (Rank r = 0; r < ranks; ++r) connect_host(r);
    for (const auto& [key, head] : queues_.heads()) connect_queue(key, head);
    if (motion_ == model::Motion::kStuck) infer_hosts();
  }

 private:
  void add_host(Rank r) {
    const RankFacts& facts = run_.ranks[static_cast<size_t>(r)];
    WaitNode node;
    node.rank = r;
    node.instruction = facts.at;
    node.why = reason_of(facts);
    const std::string at = facts.at.valid() ? instruction_name(run_, facts.at) : std::string();
    node.text =
        at.empty() ? fmt::format("rank {} host", r) : fmt::format("rank {} host at {}", r, at);
    graph_.nodes.push_back(std::move(node));
  }

  void add_queue(const QueueKey& key, const QueueHead& head) {
    WaitNode node;
    node.rank = key.rank;
    node.queue = true;
    node.stream = key.stream;
    node.communicator = key.communicator;
    node.why = Why::kRunning;
    if (head.task != nullptr) {
      node.instruction = head.task->instruction;
      node.text = fmt::format("rank {} {}: {}", key.rank, queue_name(run_, node),
                              instruction_name(run_, node.instruction));
    } else {
      const MemberRef& first = head.members.front();
      node.instruction = first.member->instruction;
      node.text = fmt::format("rank {} {}: {}{}", key.rank, queue_name(run_, node), name_of(first),
                              at_place(run_, node.instruction));
    }
    node_of_[key] = static_cast<uint32_t>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  void add_event_edge(uint32_t from, const Task& on) {
    const auto to = node_of_.find({on.rank(), on.stream, {}, model::kNoRank});
    if (to == node_of_.end()) return;
    WaitEdge edge;
    edge.from = from;
    edge.to = to->second;
    edge.on = "event of " + instruction_name(run_, on.instruction);
    graph_.edges.push_back(std::move(edge));
  }

  void connect_host(Rank r) {
    const RankFacts& facts = run_.ranks[static_cast<size_t>(r)];
    if (facts.state != RankState::kBlocked) return;
    const Task* task = queues_.unfinished_task(facts.waits_for);
    if (task != nullptr) add_event_edge(static_cast<uint32_t>(r), *task);
  }

  void connect_queue(const QueueKey& key, const QueueHead& head) {
    const uint32_t from = node_of_[key];
    const size_t before = graph_.edges.size();
    if (head.task != nullptr) {
      for (const model::TaskId id : head.task->waits_for) {
        const Task* on = queues_.unfinished_task(id);
        if (on != nullptr) add_event_edge(from, *on);
      }
    }
    // Adds edges to the hosts of absent members, and to the queues of members that are not at the
    // head of their queue or wait there.
    for (const MemberRef& mine : head.members) {
      if (mine.meeting != nullptr) {
        const std::vector<Target>& targets = targets_of(*mine.meeting);
        // A member that the others wait for does not wait for itself.
        if (targets.size() > kMostTargets && queues_.is_ready(mine)) {
          wait_for_call(from, mine, targets);
          continue;
        }
        for (const Target& target : targets) {
          if (target.member != mine.member) wait_for(from, mine, target);
        }
      } else if (const auto target = target_of({nullptr, mine.pair, &mine.other_side()})) {
        wait_for(from, mine, *target);
      }
    }
    if (graph_.edges.size() != before) graph_.nodes[from].why = Why::kWaits;
  }

  /// A member for which the others of its call wait.
  struct Target {
    const Member* member = nullptr;
    uint32_t node = 0;
    bool known = true;
  };
  std::optional<Target> target_of(const MemberRef& other) const {
    const Member& member = *other.member;
    if (!member.arrived()) {
      if (run_.find(member.rank) == nullptr) return std::nullopt;
      return Target{&member, static_cast<uint32_t>(member.rank),
                    member.state == MemberState::kNotArrived};
    }
    if (!member.unfinished()) return std::nullopt;
    const auto to = node_of_.find(Queues::key_of(other));
    if (to == node_of_.end() || queues_.is_ready(other)) return std::nullopt;
    return Target{&member, to->second, true};
  }
  // Computed once per meeting, because it may have thousands of members, few of which hold it up.
  const std::vector<Target>& targets_of(const model::Meeting& meeting) {
    const auto [at, added] = targets_.try_emplace(&meeting);
    if (!added) return at->second;
    for (const Member& member : meeting.members) {
      if (const auto target = target_of({&meeting, nullptr, &member}))
        at->second.push_back(*target);
    }
    return at->second;
  }

  // Of thousands of ranks, half may wait for the other half.
  void wait_for_call(uint32_t from, const MemberRef& mine, const std::vector<Target>& targets) {
    const auto [at, added] = node_of_call_.try_emplace({mine.meeting, name_of(mine)},
                                                       static_cast<uint32_t>(graph_.nodes.size()));
    const uint32_t call = at->second;
    wait_for(from, mine, {mine.member, call, true});
    if (!added) return;
    WaitNode& node = graph_.nodes.emplace_back();
    node.queue = true;
    node.text = name_of(mine);
    for (const Target& target : targets) wait_for(call, mine, target);
  }

  void wait_for(uint32_t from, const MemberRef& mine, const Target& target) {
    WaitEdge edge;
    edge.from = from;
    edge.to = target.node;
    edge.known = target.known;
    edge.on = name_of(mine);
    edge.communicator = mine.communicator();
    edge.sequence = mine.sequence();
    if (mine.pair != nullptr) {
      edge.act = mine.sends() ? WaitEdge::Act::kReceive : WaitEdge::Act::kSend;
    }
    graph_.edges.push_back(std::move(edge));
  }

  // In a run that is stuck, a host with unknown position and work in flight is assumed to wait for
  // that work, so that the chain leads to its cause. The chain may end at a call that all members
  // have reached and that does not complete; it goes on to the members that earlier calls hold up.
  void infer_hosts() {
    std::vector<bool> linked(run_.ranks.size(), false);
    constexpr size_t kNone = SIZE_MAX;
    std::vector<size_t> first_edge(graph_.nodes.size(), kNone);
    for (size_t e = graph_.edges.size(); e-- > 0;) first_edge[graph_.edges[e].from] = e;
    const auto link = [&](const QueueKey& key, uint32_t n, const std::string& on) {
      const auto r = static_cast<size_t>(key.rank);
      if (linked[r]) return;
      if (graph_.nodes[r].why != Why::kUnknown && graph_.nodes[r].why != Why::kWaits) return;
      linked[r] = true;
      if (first_edge[r] != kNone) return;
      WaitEdge edge;
      edge.from = static_cast<uint32_t>(r);
      edge.to = n;
      edge.on = "its own " + on;
      edge.inferred = true;
      graph_.edges.push_back(std::move(edge));
    };
    for (const auto& [key, n] : node_of_) {
      if (graph_.nodes[n].why == Why::kWaits) link(key, n, graph_.edges[first_edge[n]].on);
    }
    const std::vector<uint64_t> oldest = oldest_calls();
    for (const auto& [key, n] : node_of_) {
      if (graph_.nodes[n].why == Why::kWaits) continue;
      for (const MemberRef& ref : queues_.heads().at(key).members) {
        if (!is_oldest(*ref.member, oldest) || !all_came(ref)) continue;
        if (ref.pair != nullptr && !is_held(ref.other_side(), oldest)) continue;
        link(key, n, name_of(ref));
        const auto follow = [&, from = n](Rank rank) {
          WaitEdge edge;
          edge.from = from;
          edge.to = static_cast<uint32_t>(rank);
          edge.on = name_of(ref);
          edge.inferred = true;
          graph_.edges.push_back(std::move(edge));
        };
        if (ref.pair != nullptr) {
          follow(ref.other_side().rank);
        } else {
          std::ranges::for_each(held_in(*ref.meeting, oldest), follow);
        }
      }
    }
  }

  // By rank, the place of its first unfinished call.
  std::vector<uint64_t> oldest_calls() const {
    std::vector<uint64_t> out(run_.ranks.size(), UINT64_MAX);
    for (const auto& [key, head] : queues_.heads()) {
      uint64_t& oldest = out[static_cast<size_t>(key.rank)];
      for (const MemberRef& ref : head.members)
        oldest = std::min(oldest, ref.member->order.value_or(UINT64_MAX));
    }
    return out;
  }
  static bool is_oldest(const Member& member, const std::vector<uint64_t>& oldest) {
    return member.order.value_or(0) <= oldest[static_cast<size_t>(member.rank)];
  }
  bool all_came(const MemberRef& ref) {
    if (ref.member->task != model::kNoTask) return false;
    if (ref.pair != nullptr) return ref.other_side().arrived();
    const auto [at, added] = all_came_.try_emplace(ref.meeting, false);
    if (added)
      at->second = std::ranges::all_of(ref.meeting->members,
                                       [](const Member& member) { return member.arrived(); });
    return at->second;
  }
  // The members of a call that earlier calls hold up.
  const std::vector<Rank>& held_in(const model::Meeting& meeting,
                                   const std::vector<uint64_t>& oldest) {
    const auto [at, added] = held_.try_emplace(&meeting);
    for (size_t i = 0; added && i < meeting.members.size(); ++i) {
      const Member& member = meeting.members[i];
      if (is_held(member, oldest)) at->second.push_back(member.rank);
    }
    return at->second;
  }
  static bool is_held(const Member& member, const std::vector<uint64_t>& oldest) {
    return member.unfinished() && !is_oldest(member, oldest);
  }

  const Run& run_;
  model::Motion motion_;
  Queues queues_;
  WaitGraph& graph_;
  std::map<QueueKey, uint32_t> node_of_;
  std::map<const model::Meeting*, std::vector<Target>> targets_;
  std::map<const model::Meeting*, bool> all_came_;
  std::map<const model::Meeting*, std::vector<Rank>> held_;
  // The members of a mismatch wait in calls of different names.
  std::map<std::pair<const model::Meeting*, std::string>, uint32_t> node_of_call_;
};

std::vector<uint32_t> cycle_of(const WaitGraph& graph) {
  std::vector<std::vector<uint32_t>> next(graph.nodes.size());
  for (const WaitEdge& e : graph.edges) {
    if (e.known) next[e.from].push_back(e.to);
  }
  std::vector<uint32_t> cycle = shortest_cycle(std::move(next));
  std::erase_if(cycle, [&](uint32_t n) { return is_call(graph.nodes[n]); });
  return cycle;
}

// With an edge between each two ranks.
WaitGraph expanded(WaitGraph graph) {
  const auto first = std::ranges::find_if(graph.nodes, is_call);
  if (first == graph.nodes.end()) return graph;
  const auto out = edges_by_node(graph);
  std::vector<WaitEdge> edges;
  for (const WaitEdge& edge : graph.edges) {
    if (is_call(graph.nodes[edge.from])) continue;
    if (!is_call(graph.nodes[edge.to])) {
      edges.push_back(edge);
      continue;
    }
    for (const uint32_t e : out[edge.to]) {
      edges.push_back(graph.edges[e]);
      edges.back().from = edge.from;
    }
  }
  graph.edges = std::move(edges);
  graph.nodes.erase(first, graph.nodes.end());
  return graph;
}

}  // namespace

WaitGraph compact_wait_graph(const Run& run, model::Motion motion) {
  WaitGraph graph;
  GraphBuilder(run, motion, graph).build();
  std::vector<bool> waits(graph.nodes.size(), false);
  std::vector<bool> awaited(graph.nodes.size(), false);
  for (const WaitEdge& e : graph.edges) {
    waits[e.from] = true;
    awaited[e.to] = true;
  }
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const WaitNode& node = graph.nodes[n];
    // A running host can still arrive, unless a timeout has expired.
    const bool can_come =
        node.why == Why::kRunning && (node.queue || motion != model::Motion::kStuck);
    if (awaited[n] && !waits[n] && !can_come) graph.culprits.push_back(n);
  }
  if (!graph.edges.empty()) graph.cycle = cycle_of(graph);
  // The host of a rank may have returned while its queue waits in the circle, which holds up all.
  std::set<Rank> in_cycle;
  for (const uint32_t n : graph.cycle) in_cycle.insert(graph.nodes[n].rank);
  std::erase_if(graph.culprits, [&](uint32_t n) { return in_cycle.contains(graph.nodes[n].rank); });
  // A cycle is more informative than unknown state.
  std::vector<bool> is_culprit(graph.nodes.size(), false);
  for (const uint32_t n : graph.culprits) is_culprit[n] = true;
  const bool blames = std::any_of(graph.edges.begin(), graph.edges.end(), [&](const WaitEdge& e) {
    return e.known && e.communicator.valid() && is_culprit[e.to];
  });
  if (blames || graph.cycle.empty()) graph.sentence = blame_sentence(run, graph);
  if (graph.sentence.empty() && !graph.cycle.empty()) graph.sentence = cycle_sentence(run, graph);
  return graph;
}

WaitGraph wait_graph(const Run& run) { return expanded(compact_wait_graph(run, run.motion)); }

}  // namespace hostir::diagnose
