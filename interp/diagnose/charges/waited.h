// The calls in which ranks wait for a rank that does not wait itself.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/diagnose/engine/queues.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

/// One call, the ranks that wait in it, and the ranks they wait for.
struct Waited {
  MemberRef call;  // of one of the waiting ranks
  std::vector<model::Rank> waiting;
  std::vector<model::Rank> absent;   // known not to have arrived, and not blocked themselves
  std::vector<model::Rank> unknown;  // ranks without a record
  int nearness = 0;                  // how likely it is the absent rank's next call
  uint64_t distance = 0;             // from its last call, if that is uncertain
};

/// The call that the absent ranks should make next comes first. `calls` is calls_by_rank(run).
std::vector<Waited> waited_calls(const model::Run& run,
                                 const std::vector<std::vector<MemberRef>>& calls,
                                 const model::WaitGraph& graph);

/// The call in which `rank` waits along an edge of a communication; empty if it is not on record.
MemberRef call_of(const model::Run& run, model::Rank rank, const model::WaitEdge& edge);

/// wait_graph() with fewer edges. Where a rank waits for many in one call, a node without a rank
/// stands between them: all ranks that wait in the call have an edge to it, and it has one to each
/// rank that they wait for. The cycle has no such nodes. kStuck: of a run that is assumed to be
/// stuck, so that waits lead through hosts without a record.
model::WaitGraph compact_wait_graph(const model::Run& run, model::Motion motion);
inline bool is_call(const model::WaitNode& node) { return node.rank == model::kNoRank; }
/// By node, true for the node of a call from which `counts` holds for some edge.
template <class Counts>
std::vector<bool> calls_with(const model::WaitGraph& graph, const Counts& counts) {
  std::vector<bool> out(graph.nodes.size(), false);
  for (const model::WaitEdge& edge : graph.edges)
    if (is_call(graph.nodes[edge.from]) && counts(edge)) out[edge.from] = true;
  return out;
}

}  // namespace hostir::diagnose
