// Nothing can move: the sentence of judge(), else of the wait graph, and notes from the wait graph.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "hostir/support/lists.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/recorded.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"

namespace hostir::diagnose {

namespace {

using model::Member;
using model::Rank;
using model::Run;
using model::Verdict;
using model::WaitEdge;
using model::WaitGraph;
using model::WaitNode;

// If half of a thousand ranks wait for the other half, there are hundreds of thousands of edges.
constexpr size_t kMostWaits = 32;  // groups of ranks listed in one note
constexpr size_t kMostNotes = 64;  // for readability; the wait graph has all

// What one host or stream waits for on several ranks.
struct Target {
  std::string queue;  // empty: their hosts
  const WaitEdge* edge = nullptr;
  std::vector<Rank> ranks;
};

// Without those behind the node of a call.
std::vector<Target> targets_of(const Run& run, const WaitGraph& graph,
                               const std::vector<uint32_t>& edges) {
  std::vector<Target> out;
  std::map<std::tuple<std::string, std::string_view, bool>, size_t> known;
  for (const uint32_t e : edges) {
    const WaitEdge& edge = graph.edges[e];
    const WaitNode& to = graph.nodes[edge.to];
    if (is_call(to)) continue;
    std::string queue = to.queue ? " " + queue_name(run, to) : std::string();
    const auto [at, added] =
        known.emplace(std::tuple(queue, std::string_view(edge.on), edge.inferred), out.size());
    if (added) out.push_back({std::move(queue), &edge, {}});
    out[at->second].ranks.push_back(to.rank);
  }
  return out;
}

class NoteMaker {
 public:
  NoteMaker(const Run& run, const WaitGraph& graph, const std::vector<std::vector<uint32_t>>& out)
      : run_(run), graph_(graph), out_(out), of_call_(graph.nodes.size()) {}

  // One note for all hosts, or all streams of a name, that are at one instruction and wait for the
  // same.
  void add(const std::vector<uint32_t>& order, Verdict& verdict) {
    struct Alike {
      uint32_t first = 0;  // node
      std::vector<Rank> ranks;
    };
    std::vector<Alike> all;
    std::map<std::pair<uint32_t, std::string>, size_t> known;
    for (const uint32_t n : order) {
      const WaitNode& node = graph_.nodes[n];
      if (is_call(node)) continue;
      const auto [at, added] =
          known.emplace(std::pair(node.instruction.index, words(n, true)), all.size());
      if (added) all.push_back({n, {}});
      all[at->second].ranks.push_back(node.rank);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == kMostNotes) {
        verdict.notes.push_back(
            {{}, {}, fmt::format("and {} more notes; `info waits` lists all", all.size() - i)});
        break;
      }
      auto& [first, ranks] = all[i];
      std::sort(ranks.begin(), ranks.end());
      std::string text = model::list_of(ranks) + words(first, ranks.size() > 1);
      verdict.notes.push_back({std::move(ranks), graph_.nodes[first].instruction, std::move(text)});
    }
  }

 private:
  // The words of a note after its ranks: ` stream main: @f#4 all_reduce waits for rank 1 (..)`.
  // `several`: in the plural, and without the rank whose own streams are meant. Ranks for which the
  // words are then equal get one note.
  std::string words(uint32_t n, bool several) {
    const WaitNode& node = graph_.nodes[n];
    const std::vector<uint32_t>& edges = out_[n];
    std::string note = node.text.substr(fmt::format("rank {}", node.rank).size());
    const std::string waits = told(node, edges, several) + behind_calls(edges);
    if (!waits.empty()) note += (several ? " wait for " : " waits for ") + waits.substr(2);
    if (!edges.empty() || node.queue) return note;
    switch (node.why) {
      case WaitNode::Why::kFinished:
        return note + ", finished";
      case WaitNode::Why::kNeverStarted:
        return note + ", never started";
      case WaitNode::Why::kDead:
        return note + ", died";
      case WaitNode::Why::kRemote:
        return note + ", in another process";
      default:
        return note;
    }
  }
  // `, rank 1 (all_reduce seq 0), rank 2 (..)`
  std::string told(const WaitNode& node, const std::vector<uint32_t>& edges, bool several) const {
    std::string out;
    std::vector<Target> targets = targets_of(run_, graph_, edges);
    for (size_t k = 0; k < std::min(targets.size(), kMostWaits); ++k) {
      Target& target = targets[k];
      std::sort(target.ranks.begin(), target.ranks.end());
      const bool own = several && target.ranks == std::vector<Rank>{node.rank};
      out += fmt::format(", {}{} ({})", own ? "their own" : model::list_of(target.ranks),
                         target.queue, target.edge->on);
      if (target.edge->inferred) out += ", as far as can be told";
    }
    if (targets.size() > kMostWaits)
      out += fmt::format(", and {} more", targets.size() - kMostWaits);
    return out;
  }
  // Written once for all ranks that wait in the call.
  std::string behind_calls(const std::vector<uint32_t>& edges) {
    std::string out;
    for (const uint32_t e : edges) {
      const uint32_t call = graph_.edges[e].to;
      if (!is_call(graph_.nodes[call])) continue;
      if (of_call_[call].empty()) of_call_[call] = told(graph_.nodes[call], out_[call], false);
      out += of_call_[call];
    }
    return out;
  }

  const Run& run_;
  const WaitGraph& graph_;
  const std::vector<std::vector<uint32_t>>& out_;  // edges by node
  std::vector<std::string> of_call_;               // by node
};

// The node that the sentence of the graph speaks about: the first that waits for a rank at fault,
// or the first communication of the cycle.
std::optional<uint32_t> subject_of(const WaitGraph& graph) {
  std::vector<bool> is_at_fault(graph.nodes.size(), false);
  for (const uint32_t n : graph.culprits) is_at_fault[n] = true;
  const auto blames = [&](const WaitEdge& e) {
    return e.known && e.communicator.valid() && is_at_fault[e.to];
  };
  const std::vector<bool> call_blames = calls_with(graph, blames);
  for (const WaitEdge& e : graph.edges) {
    if (!is_call(graph.nodes[e.from]) && (blames(e) || call_blames[e.to])) return e.from;
  }
  for (const uint32_t n : graph.cycle) {
    const bool communicates =
        std::any_of(graph.edges.begin(), graph.edges.end(),
                    [&](const WaitEdge& e) { return e.from == n && e.communicator.valid(); });
    if (communicates) return n;
  }
  return std::nullopt;
}

}  // namespace

Verdict deadlock_verdict(const Run& run, const RecordedVerdict& judged) {
  const WaitGraph graph = compact_wait_graph(run, run.motion);
  Verdict verdict;
  verdict.kind = "deadlock";
  // A rank without a record is not accused: its file may only not be given. Of several ranks that
  // never came, the graph names all, those of groups of one declaration together.
  const bool several = judged.has_second || judged.culprits.empty();
  const bool accuses = judged.is_fault() && judged.charge != Charge::kNoRecord &&
                       (judged.charge != Charge::kNeverCame || !several);
  verdict.sentence = accuses ? judged.sentence : graph.sentence;
  const bool live = std::any_of(run.tasks.begin(), run.tasks.end(), [](const model::Task& t) {
    return t.state != model::TaskState::kFinished;
  });
  if (verdict.sentence.empty() && !live) verdict.sentence = judged.sentence;
  if (verdict.sentence.empty()) {
    verdict.sentence = run.gave_up_after_ns
                           ? "all members have arrived, but the device does not finish"
                           : "the backend has stopped, with tasks in flight";
  }
  if (run.gave_up_after_ns) {
    verdict.kind = "timeout";
    verdict.sentence =
        fmt::format("nothing completed for {:g} s: {}",
                    static_cast<double>(*run.gave_up_after_ns) * 1e-9, verdict.sentence);
  }
  const auto out = edges_by_node(graph);
  // Waiting nodes come first.
  std::vector<uint32_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_partition(order.begin(), order.end(), [&](uint32_t n) { return !out[n].empty(); });
  NoteMaker(run, graph, out).add(order, verdict);
  const auto point_to = [&](Rank rank, model::InstructionId at) {
    const auto note = std::ranges::find_if(verdict.notes, [&](const model::VerdictNote& n) {
      return n.instruction.index == at.index && contains(n.ranks, rank);
    });
    if (note == verdict.notes.end()) return false;
    verdict.culprit = static_cast<size_t>(note - verdict.notes.begin());
    return true;
  };
  // The wrong call if the rank at fault waits in it, else the call in which others wait for it. In
  // a circle in which nobody is at fault, `at` is only the call that the repair moves.
  const bool is_circle = judged.charge == Charge::kOrder && judged.culprits.empty();
  const Member* wrong = accuses && !is_circle ? judged.at.member : nullptr;
  if (wrong != nullptr && point_to(wrong->rank, wrong->instruction)) return verdict;
  if (const auto subject = subject_of(graph))
    (void)point_to(graph.nodes[*subject].rank, graph.nodes[*subject].instruction);
  return verdict;
}

}  // namespace hostir::diagnose
