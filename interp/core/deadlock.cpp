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
  // Half of a thousand ranks that wait for the other half are hundreds of thousands of edges.
  constexpr size_t kMostTold = 32;
  std::vector<std::vector<uint32_t>> out(graph.nodes.size());
  for (uint32_t e = 0; e < graph.edges.size(); ++e) out[graph.edges[e].from].push_back(e);
  // Who waits comes first: the fault's position is the instruction that does not get on.
  std::vector<size_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t n) { return !out[n].empty(); });
  constexpr size_t kMostNotes = 64;  // a person reads; the wait graph has all
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == kMostNotes) {
      fault.record.notes.push_back(fmt::format(
          "and {} more hosts and streams; `info waits` tells of all", order.size() - i));
      break;
    }
    const size_t n = order[i];
    const WaitNode& node = graph.nodes[n];
    std::string note = node.text;
    std::string separator = " waits for ";
    for (size_t k = 0; k < std::min(out[n].size(), kMostTold); ++k) {
      const WaitEdge& e = graph.edges[out[n][k]];
      note += fmt::format("{}{} ({})", separator,
                          graph.nodes[e.to].stream
                              ? fmt::format("rank {} stream {}", graph.nodes[e.to].rank,
                                            code->streams[*graph.nodes[e.to].stream])
                              : fmt::format("rank {}", graph.nodes[e.to].rank),
                          e.on);
      separator = ", ";
    }
    if (out[n].size() > kMostTold) note += fmt::format(", and {} more", out[n].size() - kMostTold);
    if (out[n].empty() && !node.stream) {
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
