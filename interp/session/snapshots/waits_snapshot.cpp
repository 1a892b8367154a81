#include "interp/session/snapshots/waits_snapshot.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/lists.h"
#include "interp/model/verdict.h"
#include "interp/session/snapshots/declarations.h"
#include "interp/session/snapshots/ledger_snapshot.h"
#include "interp/session/snapshots/snapshot_builder.h"

namespace hostir::interp {

WaitsSnapshot make_waits_snapshot(const model::Run& run) {
  const model::WaitGraph graph = diagnose::wait_graph(run);
  const Declarations declarations(run);
  WaitsSnapshot out;
  for (const model::WaitEdge& e : graph.edges) {
    const model::WaitNode& from = graph.nodes[e.from];
    const model::WaitNode& to = graph.nodes[e.to];
    RankWait wait{from.rank, to.rank, from.text, to.text, e.on};
    wait.from_stream = from.stream.valid() ? from.stream.index : kNoStream;
    wait.from_code = from.instruction.valid() ? from.instruction.index : 0;
    if (e.communicator.valid()) {
      wait.comm = declarations.index_of(e.communicator);
      wait.comm_text = comm_text(run.communicators[e.communicator.index]);
      wait.sequence = e.sequence;
    }
    out.edges.push_back(std::move(wait));
  }
  std::stable_sort(out.edges.begin(), out.edges.end(), [](const RankWait& a, const RankWait& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  for (const uint32_t n : graph.culprits) add_once(out.culprits, graph.nodes[n].rank);
  for (const uint32_t n : graph.cycle) add_once(out.cycle, graph.nodes[n].rank);
  out.sentence = graph.sentence;
  if (graph.edges.empty()) out.sentence = "Nobody waits.";
  // Not stuck: the ranks waited for can still arrive.
  if (out.sentence.empty()) {
    const auto other = std::find_if(out.edges.begin(), out.edges.end(),
                                    [](const RankWait& e) { return e.from != e.to; });
    const RankWait& first = other != out.edges.end() ? *other : out.edges.front();
    const std::string whom =
        first.from == first.to ? "its own stream" : fmt::format("rank {}", first.to);
    out.sentence = fmt::format("{} waits for {}: {}", first.from_text, whom, first.on);
  }
  return out;
}

void accuse_differing(const model::Run& run, const std::vector<FaultSnapshot>& faults,
                      WaitsSnapshot& waits) {
  if (faults.empty() || faults.back().kind != "collective_mismatch" || !waits.culprits.empty())
    return;
  const model::Verdict verdict = diagnose::diagnose(run);
  const bool decided = std::ranges::any_of(verdict.sides, &model::Side::expected);
  for (const model::Side& side : verdict.sides) {
    if (side.expected && decided) continue;
    for (const Rank rank : side.ranks) insert_once(waits.culprits, rank);
  }
}

std::vector<FaultSnapshot> make_fault_snapshots(const Interpreter& interpreter, uint32_t branch) {
  std::vector<FaultSnapshot> out;
  for (const Fault& f : interpreter.faults()) {
    out.push_back({f.record.kind, f.record.sentence, f.record.ranks, f.record.instructions,
                   f.record.notes, Position{f.position, branch}, f.severity});
  }
  return out;
}

}  // namespace hostir::interp
