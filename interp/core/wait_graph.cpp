// 1. A node per host, and per stream that has unfinished tasks. 2. Edges from each blocked host to
// the stream of its event, and from each stream's oldest task to whoever must move first. 3. The
// culprits (waited for, not waiting) or, without one, the shortest cycle. 4. The sentence.

#include "interp/core/wait_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"

namespace hostir::interp {

const TaskRecord* Engine::head(Rank rank, StreamIndex stream) const {
  for (const TaskRecord& t : state.ranks[static_cast<size_t>(rank)].tasks.all()) {
    if (t.stream == stream && !t.finished()) return &t;
  }
  return nullptr;
}

bool Engine::waits_for_events(Rank r, const TaskRecord& task) const {
  const RankState& rank = state.ranks[static_cast<size_t>(r)];
  return std::any_of(rank.dependencies.begin(), rank.dependencies.end(),
                     [&](const TaskDependency& d) {
                       if (d.task != task.number) return false;
                       const TaskRecord* on = rank.tasks.find(task_number(d.on));
                       return on != nullptr && !on->finished();
                     });
}

bool Engine::is_ready(Rank rank, const Arrival& arrival) const {
  if (!arrival.arrived || arrival.finished) return false;
  const TaskRecord* first = head(rank, arrival.stream);
  return first != nullptr && make_task_id(rank, first->number) == arrival.task &&
         !waits_for_events(rank, *first);
}

namespace {

using Why = WaitNode::Why;

class Builder {
 public:
  Builder(const Engine& engine, WaitGraph& graph) : engine_(engine), graph_(graph) {}

  void run() {
    const Rank ranks = engine_.code->rank_count;
    for (Rank r = 0; r < ranks; ++r) add_host(r);
    for (Rank r = 0; r < ranks; ++r) add_streams(r);
    for (Rank r = 0; r < ranks; ++r) connect_host(r);
    for (Rank r = 0; r < ranks; ++r) {
      for (StreamIndex s = 0; s < engine_.code->streams.size(); ++s) connect_stream(r, s);
    }
  }

 private:
  const RankState& rank(Rank r) const { return engine_.state.ranks[static_cast<size_t>(r)]; }

  void add_host(Rank r) {
    WaitNode node;
    node.rank = r;
    node.code = rank(r).pc;
    const RankStatus status = rank(r).status;
    node.why = status == RankStatus::kDone         ? Why::kFinished
               : status == RankStatus::kNotStarted ? Why::kNeverStarted
               : status == RankStatus::kBlocked    ? Why::kWaits
               : rank(r).frozen                    ? Why::kFrozen
                                                   : Why::kRunning;
    node.text = fmt::format("rank {} host at {}", r, engine_.name_of(node.code));
    graph_.nodes.push_back(std::move(node));
  }

  void add_streams(Rank r) {
    for (StreamIndex s = 0; s < engine_.code->streams.size(); ++s) {
      const TaskRecord* task = engine_.head(r, s);
      if (task == nullptr) continue;
      WaitNode node;
      node.rank = r;
      node.stream = s;
      node.code = task->code;
      node.why = Why::kRunning;
      node.text = fmt::format("rank {} stream {}: {}", r, engine_.code->streams[s],
                              engine_.name_of(task->code));
      stream_node_[{r, s}] = static_cast<uint32_t>(graph_.nodes.size());
      graph_.nodes.push_back(std::move(node));
    }
  }

  void connect_host(Rank r) {
    if (rank(r).status != RankStatus::kBlocked) return;
    const TaskRecord* task = rank(r).tasks.find(task_number(rank(r).waits_for));
    if (task == nullptr) return;
    const auto to = stream_node_.find({r, task->stream});
    if (to == stream_node_.end()) return;
    WaitEdge edge;
    edge.from = static_cast<uint32_t>(r);
    edge.to = to->second;
    edge.on = "event of " + engine_.name_of(task->code);
    graph_.edges.push_back(std::move(edge));
  }

  void connect_stream(Rank r, StreamIndex s) {
    const auto at = stream_node_.find({r, s});
    if (at == stream_node_.end()) return;
    const uint32_t from = at->second;
    const size_t before = graph_.edges.size();
    const TaskRecord& task = *engine_.head(r, s);
    for (const TaskDependency& d : rank(r).dependencies) {
      if (d.task != task.number) continue;
      const TaskRecord* on = rank(r).tasks.find(task_number(d.on));
      if (on == nullptr || on->finished()) continue;
      WaitEdge edge;
      edge.from = from;
      edge.to = stream_node_[{r, on->stream}];
      edge.on = "event of " + engine_.name_of(on->code);
      graph_.edges.push_back(std::move(edge));
    }
    if (task.link != TaskRecord::Link::kNone) meet(from, make_task_id(r, task.number), task);
    if (graph_.edges.size() != before) graph_.nodes[from].why = Why::kWaits;
  }

  // Edges for every meeting of the task: to the hosts of those who have not come, and to the
  // streams of those whose task is not at the head of its stream, or waits there.
  void meet(uint32_t from, TaskId id, const TaskRecord& task) {
    const Code& code = *engine_.code;
    const Ledger& ledger = engine_.state.ledger;
    for (CommIndex c = 0; c < code.communicators.size(); ++c) {
      if (task.link == TaskRecord::Link::kMeeting && c != task.comm) continue;
      const auto& groups = code.communicators[c].groups;
      for (size_t g = 0; g < groups.size(); ++g) {
        const GroupLedger& group = ledger.groups[ledger.first_group[c] + g];
        for (uint64_t s = group.first(); s < group.end(); ++s) {
          const auto own = std::find(groups[g].begin(), groups[g].end(), task_rank(id));
          if (own == groups[g].end()) break;
          const auto position = static_cast<uint32_t>(own - groups[g].begin());
          const Arrival& mine = group.arrival(s, position);
          if (!mine.arrived || mine.task != id || mine.finished) continue;
          for (uint32_t p = 0; p < group.members(); ++p) {
            if (p != position) {
              wait_for(from, groups[g][p], group.arrival(s, p), c, s,
                       fmt::format("{} seq {}", record(mine.kind).mnemonic, s));
            }
          }
        }
      }
    }
    for (const Pair& pair : ledger.pairs) {
      const bool sends = pair.send.arrived && pair.send.task == id && !pair.send.finished;
      const bool receives = pair.recv.arrived && pair.recv.task == id && !pair.recv.finished;
      if (sends) {
        wait_for(from, pair.target, pair.recv, pair.comm, pair.ordinal,
                 fmt::format("send to rank {} number {}", pair.target, pair.ordinal));
      }
      if (receives) {
        wait_for(from, pair.source, pair.send, pair.comm, pair.ordinal,
                 fmt::format("recv from rank {} number {}", pair.source, pair.ordinal));
      }
    }
  }

  void wait_for(uint32_t from, Rank other, const Arrival& arrival, CommIndex comm,
                uint64_t sequence, std::string on) {
    WaitEdge edge;
    edge.from = from;
    edge.on = std::move(on);
    edge.comm = comm;
    edge.sequence = sequence;
    edge.communication = true;
    if (!arrival.arrived) {
      edge.to = static_cast<uint32_t>(other);
    } else {
      const auto to = stream_node_.find({other, arrival.stream});
      if (to == stream_node_.end()) return;
      if (engine_.is_ready(other, arrival)) return;
      edge.to = to->second;
    }
    graph_.edges.push_back(std::move(edge));
  }

  const Engine& engine_;
  WaitGraph& graph_;
  std::map<std::pair<Rank, StreamIndex>, uint32_t> stream_node_;
};

std::vector<std::vector<uint32_t>> edges_by_node(const WaitGraph& graph) {
  std::vector<std::vector<uint32_t>> out(graph.nodes.size());
  for (uint32_t e = 0; e < graph.edges.size(); ++e) out[graph.edges[e].from].push_back(e);
  return out;
}

// Breadth first from every node; the first of the shortest ones.
std::vector<uint32_t> shortest_cycle(const WaitGraph& graph) {
  const auto out = edges_by_node(graph);
  std::vector<uint32_t> best;
  for (uint32_t start = 0; start < graph.nodes.size(); ++start) {
    std::vector<int64_t> via(graph.nodes.size(), -1);
    std::vector<uint32_t> queue = {start};
    bool closed = false;
    for (size_t i = 0; i < queue.size() && !closed; ++i) {
      for (const uint32_t e : out[queue[i]]) {
        const uint32_t to = graph.edges[e].to;
        if (to == start) {
          std::vector<uint32_t> cycle;
          for (uint32_t n = queue[i]; n != start; n = static_cast<uint32_t>(via[n])) {
            cycle.push_back(n);
          }
          cycle.push_back(start);
          std::reverse(cycle.begin(), cycle.end());
          if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
          closed = true;
          break;
        }
        if (via[to] >= 0) continue;
        via[to] = queue[i];
        queue.push_back(to);
      }
    }
    if (best.size() == 2) break;
  }
  return best;
}

const char* reason_of(Why why) {
  switch (why) {
    case Why::kFinished:
      return "finished";
    case Why::kFrozen:
      return "is frozen";
    case Why::kNeverStarted:
      return "never started";
    case Why::kWaits:
      return "waits";
    case Why::kRunning:
      return "is running";
  }
  return "";
}

// What the other side of this edge has not done.
std::string missing_act(const std::string& on) {
  if (on.rfind("send ", 0) == 0) return "received";
  if (on.rfind("recv ", 0) == 0) return "sent";
  return "issued";
}

// Who is blocked in one meeting, and who of the culprits has not come to it.
struct Cause {
  const WaitEdge* first = nullptr;  // names the meeting
  std::vector<Rank> blocked;
  std::vector<Rank> missing;
};

std::string clause(const Cause& cause, const WaitGraph& graph, const Code& code) {
  const WaitEdge& edge = *cause.first;
  return fmt::format("{} blocked in {}; never {} by {}, which {} ({} at {})",
                     list_of(cause.blocked), edge.on, missing_act(edge.on), list_of(cause.missing),
                     reason_of(graph.nodes[edge.to].why), code.communicators[edge.comm].to_string(),
                     code.address(graph.nodes[edge.from].code));
}

// One clause for every meeting that a culprit has not come to, in order of the edges.
std::string blame(const WaitGraph& graph, const Code& code) {
  constexpr size_t kMostClauses = 4;
  std::vector<bool> culprit(graph.nodes.size(), false);
  for (const uint32_t n : graph.culprits) culprit[n] = true;
  std::vector<Cause> causes;
  std::map<std::tuple<CommIndex, uint64_t, std::string_view>, size_t> cause_of;
  for (const WaitEdge& e : graph.edges) {
    if (!e.communication || !culprit[e.to]) continue;
    const auto [at, added] =
        cause_of.emplace(std::tuple(e.comm, e.sequence, std::string_view(e.on)), causes.size());
    if (added) causes.push_back({&e, {}, {}});
    causes[at->second].blocked.push_back(graph.nodes[e.from].rank);
    causes[at->second].missing.push_back(graph.nodes[e.to].rank);
  }
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (i == kMostClauses)
      return text + fmt::format(", and {} more like these", causes.size() - kMostClauses);
    for (auto* list : {&causes[i].blocked, &causes[i].missing}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    text += (i > 0 ? ", and " : "") + clause(causes[i], graph, code);
  }
  return text;
}

// Once around the cycle; of a long one the beginning.
std::string around(const WaitGraph& graph, const Code& code) {
  constexpr size_t kLongCycle = 4;
  const auto out = edges_by_node(graph);
  std::string text;
  const bool long_way = graph.cycle.size() > kLongCycle;
  const size_t told = long_way ? kLongCycle - 1 : graph.cycle.size();
  for (size_t i = 0; i < told; ++i) {
    const uint32_t to = graph.cycle[(i + 1) % graph.cycle.size()];
    for (const uint32_t e : out[graph.cycle[i]]) {
      const WaitEdge& edge = graph.edges[e];
      if (edge.to != to || !edge.communication) continue;
      text += fmt::format("{}rank {} blocked in {} ({} at {}) waits for rank {}",
                          text.empty() ? "" : "; ", graph.nodes[edge.from].rank, edge.on,
                          code.communicators[edge.comm].to_string(),
                          code.address(graph.nodes[edge.from].code), graph.nodes[to].rank);
      break;
    }
  }
  if (long_way) {
    text += fmt::format("; and so on, in a circle of {} back to rank {}", graph.cycle.size(),
                        graph.nodes[graph.cycle.front()].rank);
  }
  return text;
}

}  // namespace

std::string list_of(const std::vector<Rank>& ranks) {
  constexpr size_t kRow = 4;  // so many that follow each other are told by the first and the last
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < kRow) end = i + 1;
    out += (i ? ", " : "") + std::to_string(ranks[i]);
    if (end > i + 1) out += ".." + std::to_string(ranks[end - 1]);
    i = end;
  }
  return out;
}

WaitGraph wait_graph(const Engine& engine) {
  WaitGraph graph;
  Builder(engine, graph).run();
  std::vector<bool> waits(graph.nodes.size(), false);
  std::vector<bool> awaited(graph.nodes.size(), false);
  for (const WaitEdge& e : graph.edges) {
    waits[e.from] = true;
    awaited[e.to] = true;
  }
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (awaited[n] && !waits[n] && graph.nodes[n].why != Why::kRunning) {
      graph.culprits.push_back(n);
    }
  }
  if (!graph.edges.empty()) graph.cycle = shortest_cycle(graph);
  graph.sentence = blame(graph, *engine.code);
  if (graph.sentence.empty() && !graph.cycle.empty()) graph.sentence = around(graph, *engine.code);
  return graph;
}

WaitGraph wait_graph(const Interpreter& interpreter) { return wait_graph(interpreter.engine()); }

}  // namespace hostir::interp
