// Nothing can move: derives the verdict from the wait graph.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"

namespace hostir::diagnose {

namespace {

using model::Meeting;
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

/// Two unfinished meetings that two ranks issued in opposite orders, on separate queues.
std::string inversion_sentence(const Run& run) {
  struct Pending {
    const Meeting* meeting;
    const Member* member;
  };
  std::vector<std::vector<Pending>> by_rank(run.ranks.size());
  for (const Meeting& m : run.meetings) {
    for (const Member& member : m.members) {
      if (member.unfinished() && member.order && run.find(member.rank) != nullptr)
        by_rank[static_cast<size_t>(member.rank)].push_back({&m, &member});
    }
  }
  const auto name = [&](const Pending& p) {
    return fmt::format("{} seq {} ({}{})", model::kind_text(p.member->call), p.meeting->sequence,
                       communicator_name(run, p.meeting->communicator),
                       at_place(run, p.member->instruction));
  };
  for (size_t r = 0; r < by_rank.size(); ++r) {
    for (const Pending& a : by_rank[r]) {
      for (const Pending& b : by_rank[r]) {
        if (a.meeting->communicator == b.meeting->communicator ||
            *a.member->order >= *b.member->order)
          continue;
        for (const Member& other : a.meeting->members) {
          const Member* second = b.meeting->member(other.rank);
          if (second == nullptr || !other.order || !second->order || !other.unfinished() ||
              !second->unfinished() || *other.order < *second->order)
            continue;
          return fmt::format("rank {} issued {} before {}; rank {} issued them in the other order",
                             r, name(a), name(b), other.rank);
        }
      }
    }
  }
  return {};
}

/// The oldest unfinished meeting at which all members have arrived.
std::string complete_meeting_sentence(const Run& run) {
  const Meeting* oldest = nullptr;
  for (const Meeting& m : run.meetings) {
    const bool all = std::all_of(m.members.begin(), m.members.end(),
                                 [](const Member& member) { return member.arrived(); });
    const bool pending = std::any_of(m.members.begin(), m.members.end(),
                                     [](const Member& member) { return member.unfinished(); });
    if (!all || !pending) continue;
    if (oldest == nullptr || m.sequence < oldest->sequence) oldest = &m;
  }
  if (oldest == nullptr) return {};
  return fmt::format("all members issued {} seq {} ({}{}), and it does not complete",
                     model::kind_text(oldest->members.front().call), oldest->sequence,
                     communicator_name(run, oldest->communicator),
                     at_place(run, oldest->members.front().instruction));
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

Verdict deadlock_verdict(const Run& run) {
  const WaitGraph graph = wait_graph(run);
  Verdict verdict;
  verdict.kind = "deadlock";
  verdict.sentence = graph.sentence;
  if (verdict.sentence.empty()) verdict.sentence = inversion_sentence(run);
  const bool live = std::any_of(run.tasks.begin(), run.tasks.end(), [](const model::Task& t) {
    return t.state != model::TaskState::kFinished;
  });
  if (verdict.sentence.empty() && !live) verdict.sentence = complete_meeting_sentence(run);
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
  if (const auto subject = subject_of(graph)) {
    const WaitNode& node = graph.nodes[*subject];
    const auto note =
        std::find_if(verdict.notes.begin(), verdict.notes.end(), [&](const model::VerdictNote& n) {
          return n.instruction.index == node.instruction.index &&
                 std::find(n.ranks.begin(), n.ranks.end(), node.rank) != n.ranks.end();
        });
    if (note != verdict.notes.end())
      verdict.culprit = static_cast<size_t>(note - verdict.notes.begin());
  }
  return verdict;
}

}  // namespace hostir::diagnose
