// The wait graph as a picture: cards of ranks, arrows to whom they wait for, labels.
#pragma once

#include "gui/panel.h"
#include "gui/panels/wait_graph.h"

namespace hostir::gui {

/// Fills the current window's free space less `below` pixels, and scrolls where it needs more.
void draw_wait_picture(Frame& frame, const WaitGraph& graph, float below);

/// Makes the rank the focus and selects where it is stuck: what heads its stream, else its host.
void go_to_rank(Frame& frame, interp::Rank rank);

}  // namespace hostir::gui
