// Places the cards, arrows and labels of the wait graph. No drawing, no text: sizes in, rectangles
// out.
//
// Nodes are arranged in layers, a waiting node to the left of what it waits for; ranks that wait
// for each other in a cycle form a ring. A label is placed at the start of its arrow, and arrows
// with the same label share one. Cards and labels never overlap; the picture may therefore exceed
// the panel, which scrolls.
#pragma once

#include <imgui.h>

#include <vector>

#include "gui/panels/waits/wait_graph.h"

namespace hostir::gui {

struct WaitBox {
  ImVec2 min;
  ImVec2 max;
  void move(ImVec2 by) {
    min = ImVec2(min.x + by.x, min.y + by.y);
    max = ImVec2(max.x + by.x, max.y + by.y);
  }
  ImVec2 centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  bool overlaps(const WaitBox& other) const {
    return min.x < other.max.x && other.min.x < max.x && min.y < other.max.y && other.min.y < max.y;
  }
};

struct WaitLabel {
  WaitBox box;
  std::vector<size_t> links;  // links that begin here, all with the same text
};

struct WaitLayout {
  std::vector<WaitBox> cards;               // by node
  std::vector<WaitLabel> labels;            // a link has no label if there is no room for it
  std::vector<std::vector<ImVec2>> arrows;  // by link, from card to card
  ImVec2 size;                              // of the whole picture, which starts at (0, 0)
};

/// All in pixels.
struct WaitSizes {
  std::vector<ImVec2> cards;   // by node
  std::vector<ImVec2> labels;  // by link
  float gap = 8;               // vertical gap between cards
  float arrow = 40;            // minimum visible length of an arrow
  float width = 2000;          // width of the panel, in which rings are folded
  bool labels_below = false;   // labels are placed below their cards; else beside them
};

WaitLayout place_waits(const WaitGraph& graph, const WaitSizes& sizes);

}  // namespace hostir::gui
