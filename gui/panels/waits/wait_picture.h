// Draws the wait graph: rank cards, arrows to the ranks they wait for, labels.
#pragma once

#include "gui/panels/waits/wait_graph.h"
#include "gui/panels/waits/wait_layout.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// The text of a card: the rank and its state, and below them its place in the program.
struct WaitCardText {
  std::string who;
  StateKind state = StateKind::kOk;
  std::string word;
  std::string place;  // empty: the card has one line
};

/// Texts and positions are computed once per state of the run and size, not per frame.
class WaitPicture {
 public:
  /// Fills the free space of the current window except `below` pixels at the bottom; scrolls if
  /// that is too small. `graph` must belong to the newest snapshot.
  void draw(Frame& frame, const WaitGraph& graph, float below);

 private:
  void lay_out(const Frame& frame, const WaitGraph& graph, ImVec2 space);

  struct Key {
    uint64_t generation = ~uint64_t{0};
    float width = 0, height = 0, scale = 0, font = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  Key key_;
  std::vector<WaitCardText> texts_;
  WaitLayout layout_;
  ImVec2 at_;  // screen position of the layout's corner
  uint64_t laid_out_ = 0;
};

/// Makes the rank the focus and selects where it is stuck: the head of its stream, else its host.
void go_to_rank(Frame& frame, interp::Rank rank);

}  // namespace hostir::gui
