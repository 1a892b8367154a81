// Parts of the wait graph's picture: a card with its labels, or ranks that wait for each other as a
// ring. Every part is made by itself; gui/panels/wait_layout.h puts them beside each other.
#pragma once

#include <map>
#include <vector>

#include "gui/panels/wait_layout.h"

namespace hostir::gui {

struct WaitBlock {
  std::vector<size_t> nodes;      // a ring in its order
  std::vector<WaitLabel> labels;  // by the block's own corner until they are placed
  std::vector<WaitBox> cards;
  std::map<size_t, std::vector<ImVec2>> arrows;  // of the ring, by link
  ImVec2 size;
  size_t layer = 0;
};

/// Fills `cards`, `labels`, `arrows` and `size` from `nodes`.
void shape_block(const WaitGraph& graph, const WaitSizes& sizes, WaitBlock& block);

}  // namespace hostir::gui
