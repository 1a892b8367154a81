// The wait graph as a picture: cards of ranks, arrows to whom they wait for, labels.
#pragma once

#include "gui/panel.h"
#include "gui/panels/wait_graph.h"
#include "gui/panels/wait_layout.h"

namespace hostir::gui {

/// What a card says: the rank and its state; below, where it stands.
struct WaitCardText {
  std::string who;
  StateKind state = StateKind::kOk;
  std::string word;
  std::string place;  // empty: one line
};

/// Texts and places are made once per state of the run and size, not once per frame.
class WaitPicture {
 public:
  /// Fills the current window's free space less `below` pixels, and scrolls where it needs more.
  /// `graph` is that of the newest snapshot.
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
  ImVec2 at_;  // where the layout's corner is on screen
  uint64_t laid_out_ = 0;
};

/// Makes the rank the focus and selects where it is stuck: what heads its stream, else its host.
void go_to_rank(Frame& frame, interp::Rank rank);

}  // namespace hostir::gui
