// Helpers shared by the panel tree and its height computation: finding panels, and whether one is
// idle.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gui/tree/panel_tree.h"

namespace hostir::gui {

inline constexpr float kPadX = 7;  // around a panel's content
inline constexpr float kPadY = 5;

/// nullptr if there is no such panel.
Panel* find_panel(const std::vector<std::unique_ptr<Panel>>& panels, std::string_view id);
/// True if the panel has a session to show, or needs none.
bool is_shown(const Frame& frame, const Panel& panel);
/// True if the panel has nothing to show, has had nothing, and was not opened by hand.
bool is_idle(const Frame& frame, const PanelNode& node, const Panel& panel);
/// Forgets the heights remembered for the panels below the node.
void forget_rooms(PanelNode& node);
std::string first_sentence(std::string_view hint);

}  // namespace hostir::gui
