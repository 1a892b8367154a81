// Nothing can move: the sentence of judge(), else of the wait graph, and notes from the wait graph.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "hostir/support/lists.h"
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

std::vector<Target> targets_of(const Run& run, const WaitGraph& graph,
                               const std::vector<uint32_t>& edges) {
  std::vector<Target> out;
  std::map<std::tuple<std::string, std::string_view, bool>, size_t> known;
  for (const uint32_t e : edges) {
    const WaitEdge& edge = graph.edges[e];
    const WaitNode& to = graph.nodes[edge.to];
    std::string queue = to.queue ? " " + queue_name(run, to) : std::string();
    const auto [at, added] =
        known.emplace(std::tuple(queue, std::string_view(edge.on), edge.inferred), out.size());
    if (added) out.push_back({std::move(queue), &edge, {}});
    out[at->second].ranks.push_back(to.rank);
  }
  return out;
}

// The words of a note after its ranks: ` stream main: @f#4 all_reduce waits for rank 1 (..)`.
// `several`: uses the plural and does not name the rank of its own streams, so that ranks with the
// same text share a note.
std::string note_words(const Run& run, const WaitGraph& graph, uint32_t n,
                       const std::vector<uint32_t>& edges, bool several) {
  const WaitNode& node = graph.nodes[n];
  std::string note = node.text.substr(fmt::format("rank {}", node.rank).size());
  std::string separator = several ? " wait for " : " waits for ";
  std::vector<Target> targets = targets_of(run, graph, edges);
  for (size_t k = 0; k < std::min(targets.size(), kMostWaits); ++k) {
    Target& target = targets[k];
    std::sort(target.ranks.begin(), target.ranks.end());
    const bool own = several && target.ranks == std::vector<Rank>{node.rank};
    note += fmt::format("{}{}{} ({})", separator, own ? "their own" : model::list_of(target.ranks),
                        target.queue, target.edge->on);
    if (target.edge->inferred) note += ", as far as can be told";
    separator = ", ";
  }
  if (targets.size() > kMostWaits)
    note += fmt::format(", and {} more", targets.size() - kMostWaits);
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

// One note for all hosts, or all streams of a name, that are at one instruction and wait for the
// same.
void add_notes(const Run& run, const WaitGraph& graph, const std::vector<uint32_t>& order,
               const std::vector<std::vector<uint32_t>>& out, Verdict& verdict) {
  struct Alike {
    uint32_t first = 0;  // node
    std::vector<Rank> ranks;
  };
  std::vector<Alike> all;
  std::map<std::pair<uint32_t, std::string>, size_t> known;
  for (const uint32_t n : order) {
    const WaitNode& node = graph.nodes[n];
    const auto [at, added] = known.emplace(
        std::pair(node.instruction.index, note_words(run, graph, n, out[n], true)), all.size());
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
    std::string text =
        model::list_of(ranks) + note_words(run, graph, first, out[first], ranks.size() > 1);
    verdict.notes.push_back({std::move(ranks), graph.nodes[first].instruction, std::move(text)});
  }
}

// The node that the sentence of the graph speaks about: the first that waits for a rank at fault,
// or the first communication of the cycle.
std::optional<uint32_t> subject_of(const WaitGraph& graph) {
  const auto is_at_fault = [&](uint32_t n) {
    return std::find(graph.culprits.begin(), graph.culprits.end(), n) != graph.culprits.end();
  };
  for (const WaitEdge& e : graph.edges) {
    if (e.known && e.communicator.valid() && is_at_fault(e.to)) return e.from;
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
  const WaitGraph graph = wait_graph(run);
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
  add_notes(run, graph, order, out, verdict);
  const auto point_to = [&](Rank rank, model::InstructionId at) {
    const auto note = std::ranges::find_if(verdict.notes, [&](const model::VerdictNote& n) {
      return n.instruction.index == at.index && contains(n.ranks, rank);
    });
    if (note == verdict.notes.end()) return false;
    verdict.culprit = static_cast<size_t>(note - verdict.notes.begin());
    return true;
  };
  // The wrong call if the rank at fault waits in it, else the call in which others wait for it.
  const Member* wrong = accuses ? judged.at.member : nullptr;
  if (wrong != nullptr && point_to(wrong->rank, wrong->instruction)) return verdict;
  if (const auto subject = subject_of(graph))
    (void)point_to(graph.nodes[*subject].rank, graph.nodes[*subject].instruction);
  return verdict;
}

}  // namespace hostir::diagnose
