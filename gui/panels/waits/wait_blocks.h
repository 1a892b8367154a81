// Building blocks of the wait graph's picture: a card with its labels, or a ring of ranks that wait
// for each other. Each block is laid out alone; gui/panels/waits/wait_layout.h arranges them.
#pragma once

#include <map>
#include <vector>

#include "gui/panels/waits/wait_layout.h"

namespace hostir::gui {

struct WaitBlock {
  std::vector<size_t> nodes;      // for a ring, in ring order
  std::vector<WaitLabel> labels;  // relative to the block's corner until placed
  std::vector<WaitBox> cards;
  std::map<size_t, std::vector<ImVec2>> arrows;  // of the ring, by link
  ImVec2 size;
  size_t layer = 0;
};

/// Fills `cards`, `labels`, `arrows` and `size` from `nodes`.
void shape_block(const WaitGraph& graph, const WaitSizes& sizes, WaitBlock& block);

}  // namespace hostir::gui
