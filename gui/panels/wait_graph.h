// Who waits for whom as nodes and links that fit on a screen (gui/panels/wait_layout.h places
// them).
//
// Few ranks: a node each. Many: ranks that wait alike are one node, so that a thousand ranks which
// wait for one are two nodes.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

inline constexpr size_t kMaxTold = 12;

struct WaitNode {
  std::vector<interp::Rank> ranks;  // sorted, at least one
  bool culprit = false;             // others wait for it and it waits for nobody
  bool in_cycle = false;
  std::string own;                // what its ranks wait for among themselves; empty: nothing
  size_t edges = 0;               // of its first rank: what that waits for
  std::vector<std::string> told;  // of these in words, at most kMaxTold
};
struct WaitLink {
  size_t from = 0;
  size_t to = 0;
  std::string on;
  std::string label;                    // with the communicator: `all_reduce seq 0 of %c`
  interp::Rank rank = interp::kNoRank;  // one that waits, and for whom
  interp::Rank target = interp::kNoRank;
  bool in_cycle = false;
  std::string told;  // the wait of `rank` for `target` in words
};
struct WaitGraph {
  std::vector<WaitNode> nodes;
  std::vector<WaitLink> links;
};

/// At most about `max_nodes` nodes and links, unless that many ranks each wait for something else.
/// O(edges log ranks): once per state of the run, not once per frame.
WaitGraph make_wait_graph(const interp::WaitsSnapshot& waits, size_t max_nodes);

/// "r3", "r0..r2, r5", "1000 ranks: r0..r999".
std::string ranks_text(const std::vector<interp::Rank>& ranks);

}  // namespace hostir::gui
