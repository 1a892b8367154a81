// Where the wait graph's cards, arrows and labels go. No drawing, no text: sizes in, rectangles
// out.
//
// Who waits stands left of whom it waits for, in layers; ranks that wait for each other in a circle
// are a ring. A label stands where its arrow begins; arrows with the same label share one. Cards
// and labels of layers and rings never overlap, so that the picture may be wider or higher than the
// panel and scrolls.
#pragma once

#include <imgui.h>

#include <vector>

#include "gui/panels/wait_graph.h"

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
  std::vector<size_t> links;  // that begin here; all say the same
};

struct WaitLayout {
  std::vector<WaitBox> cards;               // by node
  std::vector<WaitLabel> labels;            // a link without room for one has none
  std::vector<std::vector<ImVec2>> arrows;  // by link, from card to card
  ImVec2 size;                              // of the whole picture, from (0, 0)
};

/// All in pixels.
struct WaitSizes {
  std::vector<ImVec2> cards;   // by node
  std::vector<ImVec2> labels;  // by link
  float gap = 8;               // between cards above each other
  float arrow = 40;            // the least length of an arrow that is seen
  float width = 2000;          // of the panel: rings fold to it
  bool labels_below = false;   // their cards; else beside them
};

WaitLayout place_waits(const WaitGraph& graph, const WaitSizes& sizes);

}  // namespace hostir::gui
