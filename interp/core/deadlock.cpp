// Nothing can move: the wait graph as a fault.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "interp/core/engine.h"
#include "interp/core/wait_graph.h"

namespace hostir::interp {

void Engine::report_deadlock() {
  const WaitGraph graph = wait_graph(*this);
  Fault fault;
  fault.kind = ErrorKind::kStuck;
  fault.record.kind = "deadlock";
  fault.record.sentence = graph.sentence.empty()
                              ? "the backend completes nothing more, with tasks in flight"
                              : graph.sentence;
  std::vector<bool> waits(graph.nodes.size(), false);
  for (const WaitEdge& e : graph.edges) waits[e.from] = true;
  // Who waits comes first: the fault's position is the instruction that does not get on.
  std::vector<size_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t n) { return waits[n]; });
  for (const size_t n : order) {
    const WaitNode& node = graph.nodes[n];
    std::string note = node.text;
    std::string separator = " waits for ";
    for (const WaitEdge& e : graph.edges) {
      if (e.from != n) continue;
      note += fmt::format("{}{} ({})", separator,
                          graph.nodes[e.to].stream
                              ? fmt::format("rank {} stream {}", graph.nodes[e.to].rank,
                                            code->streams[*graph.nodes[e.to].stream])
                              : fmt::format("rank {}", graph.nodes[e.to].rank),
                          e.on);
      separator = ", ";
    }
    if (!waits[n] && !node.stream) {
      note += node.why == WaitNode::Why::kFinished       ? ", finished"
              : node.why == WaitNode::Why::kNeverStarted ? ", never started"
                                                         : "";
    }
    fault.record.notes.push_back(std::move(note));
    fault.record.ranks.push_back(node.rank);
    fault.record.instructions.push_back(code->address(node.code));
    fault.spans.push_back(node.why == WaitNode::Why::kNeverStarted ? SourceSpan{}
                                                                   : code->source(node.code).span);
  }
  record_fault(std::move(fault));
}

}  // namespace hostir::interp
