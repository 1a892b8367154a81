// Who waits for whom, as nodes and links that fit on a screen (gui/panels/waits/wait_layout.h
// places them).
//
// With few ranks, each is a node. With many, ranks that wait alike share a node: a thousand ranks
// waiting for one make two nodes.
#pragma once

#include <string>
#include <vector>

#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

inline constexpr size_t kMaxTold = 12;

struct WaitNode {
  std::vector<interp::Rank> ranks;  // sorted, at least one
  bool culprit = false;             // others wait for it, and it waits for no one
  bool in_cycle = false;
  std::string own;                // why its ranks wait for each other; empty: they do not
  size_t edges = 0;               // number of waits of its first rank
  std::vector<std::string> told;  // those waits in words, at most kMaxTold
};
struct WaitLink {
  size_t from = 0;
  size_t to = 0;
  std::string on;
  std::string label;                    // includes the communicator: `all_reduce seq 0 of %c`
  interp::Rank rank = interp::kNoRank;  // of `from`, waits for `target`
  interp::Rank target = interp::kNoRank;
  bool in_cycle = false;
  std::string told;  // the wait of `rank` for `target`, in words
};
struct WaitGraph {
  std::vector<WaitNode> nodes;
  std::vector<WaitLink> links;
};

/// Makes at most about `max_nodes` nodes and links, unless more ranks than that wait for different
/// things. O(edges log ranks): call once per state of the run, not per frame.
WaitGraph make_wait_graph(const interp::WaitsSnapshot& waits, size_t max_nodes);

/// "r3", "r0..r2, r5", "1000 ranks: r0..r999".
std::string ranks_text(const std::vector<interp::Rank>& ranks);

}  // namespace hostir::gui
