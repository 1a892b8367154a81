// Who waits for whom, on what: for snapshots, and for the sentence of a deadlock.
//
// A node is a rank's host or one of its streams. An edge says that the first can not go on before
// the second does something. Made on demand from the interpreter's state; nothing is kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/core/interpreter.h"

namespace hostir::interp {

struct WaitNode {
  Rank rank = kNoRank;
  std::optional<StreamIndex> stream;  // empty: the host
  enum class Why : uint8_t {
    kWaits,
    kFinished,
    kFrozen,
    kNeverStarted,
    kRunning
  } why = Why::kWaits;
  CodeIndex code = 0;  // the instruction it is at (host) or that heads the stream
  std::string text;    // `rank 0 stream comm: all_reduce seq 0 at @f#4`
};

struct WaitEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  std::string on;  // `all_reduce seq 0`, `event of @f#7`
  CommIndex comm = 0;
  uint64_t sequence = 0;
  bool communication = false;
};

struct WaitGraph {
  std::vector<WaitNode> nodes;
  std::vector<WaitEdge> edges;
  std::vector<uint32_t> cycle;     // nodes of the shortest cycle, if there is one
  std::vector<uint32_t> culprits;  // nodes waited for that do not wait themselves
  std::string sentence;            // `rank 0 blocked in all_reduce seq 0; never issued by rank 1`
};

WaitGraph wait_graph(const Interpreter& interpreter);
WaitGraph wait_graph(const Engine& engine);

/// `rank 1`, `ranks 1, 3`, `ranks 0..511`: ranks in a sentence.
std::string list_of(const std::vector<Rank>& ranks);

}  // namespace hostir::interp
