// Who waits for whom as nodes and links that fit on a screen, and where they go. No drawing.
//
// Few ranks: a node each. Many: ranks that wait alike are one node, so that a thousand ranks which
// wait for one are two nodes. Nodes stand on an ellipse; a link is a curve that bends away from the
// one in the other direction, and its label lies on the outer side of its own curve.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

struct WaitNode {
  std::vector<interp::Rank> ranks;  // sorted, at least one
  bool culprit = false;             // others wait for it and it waits for nobody
  bool in_cycle = false;
  std::string own;  // what its ranks wait for among themselves; empty: nothing
};
struct WaitLink {
  size_t from = 0;
  size_t to = 0;
  std::string on;
  interp::Rank rank = interp::kNoRank;  // one that waits, and for whom
  interp::Rank target = interp::kNoRank;
  bool in_cycle = false;
  bool paired = false;  // there is one in the other direction
};
struct WaitGraph {
  std::vector<WaitNode> nodes;
  std::vector<WaitLink> links;
};

/// At most about `max_nodes` nodes, unless that many ranks each wait for something else.
WaitGraph make_wait_graph(const interp::WaitsSnapshot& waits, size_t max_nodes);

/// "r3", "r0..r2, r5", "1000 ranks: r0..r999".
std::string ranks_text(const std::vector<interp::Rank>& ranks);

/// Centres of `count` cards in an area; two stand beside each other where there is room.
std::vector<ImVec2> place_cards(size_t count, ImVec2 at, ImVec2 size, ImVec2 card);

/// A link between two cards: its visible part as points, and the middle of its label's near edge.
struct LinkCurve {
  std::vector<ImVec2> points;  // from card to card; empty: they touch
  ImVec2 middle;
  ImVec2 outwards;  // unit vector, to the outer side
};
LinkCurve link_curve(ImVec2 from, ImVec2 to, ImVec2 card, bool paired);

}  // namespace hostir::gui
