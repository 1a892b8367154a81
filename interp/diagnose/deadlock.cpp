// Nothing can move: derives the verdict from the wait graph.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "interp/diagnose/sentences.h"
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
constexpr size_t kMostWaits = 32;  // listed in one note
constexpr size_t kMostNotes = 64;  // for readability; the wait graph has all

std::string target_text(const Run& run, const WaitNode& node) {
  if (!node.queue) return fmt::format("rank {}", node.rank);
  return fmt::format("rank {} {}", node.rank, queue_name(run, node));
}

std::string note_text(const Run& run, const WaitGraph& graph, uint32_t n,
                      const std::vector<uint32_t>& edges) {
  const WaitNode& node = graph.nodes[n];
  std::string note = node.text;
  std::string separator = " waits for ";
  for (size_t k = 0; k < std::min(edges.size(), kMostWaits); ++k) {
    const WaitEdge& e = graph.edges[edges[k]];
    note += fmt::format("{}{} ({})", separator, target_text(run, graph.nodes[e.to]), e.on);
    if (e.inferred) note += ", as far as can be told";
    separator = ", ";
  }
  if (edges.size() > kMostWaits) note += fmt::format(", and {} more", edges.size() - kMostWaits);
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
          return fmt::format("rank {} issued {} before {}, rank {} the other way round", r, name(a),
                             name(b), other.rank);
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
                           ? "everybody has come, and the device does not finish"
                           : "the backend completes nothing more, with tasks in flight";
  }
  if (run.gave_up_after_ns) {
    verdict.kind = "timeout";
    verdict.sentence =
        fmt::format("nothing completed for {:g} s: {}",
                    static_cast<double>(*run.gave_up_after_ns) * 1e-9, verdict.sentence);
  }
  const auto out = edges_by_node(graph);
  // Waiting nodes come first: the verdict's position is the instruction that is stuck.
  std::vector<uint32_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_partition(order.begin(), order.end(), [&](uint32_t n) { return !out[n].empty(); });
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == kMostNotes) {
      verdict.notes.push_back(
          {model::kNoRank,
           {},
           fmt::format("and {} more hosts and streams; `info waits` lists all", order.size() - i)});
      break;
    }
    const WaitNode& node = graph.nodes[order[i]];
    verdict.notes.push_back(
        {node.rank, node.instruction, note_text(run, graph, order[i], out[order[i]])});
  }
  return verdict;
}

}  // namespace hostir::diagnose
