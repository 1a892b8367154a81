// What the panel tree and its heights share: which panel stands where, and whether it is idle.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/panel_tree.h"

namespace hostir::gui {

inline constexpr float kPadX = 7;  // around a panel's content
inline constexpr float kPadY = 5;

/// nullptr: there is no such panel.
Panel* find_panel(const std::vector<std::unique_ptr<Panel>>& panels, std::string_view id);
/// It has a session to show, or needs none.
bool is_shown(const Frame& frame, const Panel& panel);
/// It has nothing to show, has had nothing, and nobody has opened it by hand.
bool is_idle(const Frame& frame, const PanelNode& node, const Panel& panel);
/// Forgets what the panels below the node have had a use for.
void forget_rooms(PanelNode& node);
std::string first_sentence(std::string_view hint);

}  // namespace hostir::gui
