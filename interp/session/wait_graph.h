// Who waits for whom.
//
// An edge says that `from` can not go on before `to` acts. The sentence names the culprit: the rank
// that is not waiting (finished, frozen, never started), or else the shortest cycle.
#pragma once

#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct WaitEdge {
  Rank from = kNoRank;
  Rank to = kNoRank;
  std::string reason;  // `all_reduce seq 0 of %c`
};

struct WaitGraph {
  std::vector<WaitEdge> edges;  // ordered by (from, to)
  std::vector<Rank> culprits;   // ranks that others wait for and that wait for nobody
  std::vector<Rank> cycle;      // shortest cycle, first rank not repeated; empty: none
  std::string sentence;         // "Nobody waits." where there is no edge
};

/// Finds culprits and the shortest cycle; `edges` in any order. The sentence is left empty.
WaitGraph make_wait_graph(std::vector<WaitEdge> edges);

}  // namespace hostir::interp
