// Heights of panels: how much each can use (Panel::wanted_height), and which panel yields to which.
#include "gui/tree/panel_height.h"

#include <imgui_internal.h>

#include <algorithm>

#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

bool was_busy(const PanelNode& node, const Panel& panel) { return contains(node.busy, panel.id()); }

// The height that this panel wants, or the most that any panel of its leaf has wanted so far.
HeightRequest most_height(const Frame& frame, PanelNode& node, const Panel& panel) {
  HeightRequest wanted = panel.wanted_height(frame);
  if (wanted.kind != HeightRequest::Kind::kIdle && !was_busy(node, panel))
    node.busy.emplace_back(panel.id());
  if (wanted.kind == HeightRequest::Kind::kAll) node.most_is_all = true;
  if (wanted.kind == HeightRequest::Kind::kSome) node.most = std::max(node.most, wanted.height);
  if (node.most_is_all) return {};
  if (node.most > 0) {
    wanted.kind = HeightRequest::Kind::kSome;
    wanted.height = node.most;
  }
  return wanted;
}

}  // namespace

Panel* find_panel(const std::vector<std::unique_ptr<Panel>>& panels, std::string_view id) {
  for (const auto& panel : panels) {
    if (panel->id() == id) return panel.get();
  }
  return nullptr;
}

bool is_shown(const Frame& frame, const Panel& panel) {
  return !panel.needs_session() || frame.model.snapshot();
}

bool is_idle(const Frame& frame, const PanelNode& node, const Panel& panel) {
  return !node.kept && !was_busy(node, panel) && is_shown(frame, panel) &&
         panel.wanted_height(frame).kind == HeightRequest::Kind::kIdle;
}

void forget_rooms(PanelNode& node) {
  node.busy.clear();
  node.hold.reset();
  node.most = node.stays = 0;
  node.most_is_all = false;
  if (node.first) forget_rooms(*node.first);
  if (node.second) forget_rooms(*node.second);
}

std::string first_sentence(std::string_view hint) {
  return std::string(
      hint.substr(0, hint.find(". ") == hint.npos ? hint.npos : hint.find(". ") + 1));
}

std::optional<float> PanelTree::wanted(Frame& frame, const Panels& panels, PanelNode& node,
                                       float width) {
  if (node.kind == PanelNode::Kind::kRows) {
    const auto a = wanted(frame, panels, *node.first, width);
    const auto b = wanted(frame, panels, *node.second, width);
    if (!a || !b || node.kept) return std::nullopt;
    return *a + *b + frame.ui.px(4);
  }
  if (node.kind == PanelNode::Kind::kColumns) {
    const auto a = wanted(frame, panels, *node.first, width * node.ratio);
    const auto b = wanted(frame, panels, *node.second, width * (1 - node.ratio));
    if (!a || !b) return std::nullopt;
    return std::max(*a, *b);
  }
  const Panel* panel = find_panel(panels, node.active);
  if (!panel || node.kept || !is_shown(frame, *panel)) return std::nullopt;
  const HeightRequest wanted = most_height(frame, node, *panel);
  if (wanted.kind == HeightRequest::Kind::kAll) return std::nullopt;
  // An idle panel is one line: its tab, and its sentence beside it.
  if (wanted.kind == HeightRequest::Kind::kIdle) return ImGui::GetFrameHeightWithSpacing();
  return wanted.height + ImGui::GetFrameHeightWithSpacing() + frame.ui.px(2 * kPadY + 2);
}

float PanelTree::least(Frame& frame, const Panels& panels, PanelNode& node, float width,
                       bool few_lines_do) {
  if (node.kind == PanelNode::Kind::kRows)
    return least(frame, panels, *node.first, width, few_lines_do) +
           least(frame, panels, *node.second, width, few_lines_do) + frame.ui.px(4);
  if (node.kind == PanelNode::Kind::kColumns)
    return std::max(least(frame, panels, *node.first, width * node.ratio, few_lines_do),
                    least(frame, panels, *node.second, width * (1 - node.ratio), few_lines_do));
  const Panel* panel = find_panel(panels, node.active);
  const bool has_fewest = !few_lines_do && panel && is_shown(frame, *panel);
  const float fewest = has_fewest ? panel->wanted_height(frame).fewest : 0;
  const float few_lines = ImGui::GetFrameHeightWithSpacing() + frame.ui.px(2 * kPadY + 2) +
                          std::max(fewest, 2 * ImGui::GetTextLineHeightWithSpacing());
  return std::min(few_lines, wanted(frame, panels, node, width).value_or(few_lines));
}

float PanelTree::pressing(Frame& frame, const Panels& panels, PanelNode& node, float width) {
  if (node.kept) return 0;
  if (node.kind == PanelNode::Kind::kLeaf) {
    const Panel* panel = find_panel(panels, node.active);
    const float height = panel && is_shown(frame, *panel) ? panel->wanted_height(frame).least : 0;
    if (height <= 0) return 0;
    return height + ImGui::GetFrameHeightWithSpacing() + frame.ui.px(2 * kPadY + 2);
  }
  const bool columns = node.kind == PanelNode::Kind::kColumns;
  const float first_width = columns ? width * node.ratio : width;
  const float second_width = columns ? width - first_width : width;
  float a = pressing(frame, panels, *node.first, first_width);
  float b = pressing(frame, panels, *node.second, second_width);
  if (columns || (a <= 0 && b <= 0)) return std::max(a, b);
  if (a <= 0) a = least(frame, panels, *node.first, width, /*few_lines_do=*/false);
  if (b <= 0) b = least(frame, panels, *node.second, width, /*few_lines_do=*/false);
  return a + b + frame.ui.px(4);
}

// A table keeps its five rows beside an error, unless the error would get less than half.
float PanelTree::least_beside_error(Frame& frame, const Panels& panels, PanelNode& node,
                                    float width, float whole) {
  const float rows = least(frame, panels, node, width, /*few_lines_do=*/false);
  if (rows <= whole * 0.5f) return rows;
  return std::min(rows,
                  std::max(whole * 0.2f, least(frame, panels, node, width, /*few_lines_do=*/true)));
}

float PanelTree::first_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                              float whole) {
  float share = usual_height(frame, panels, node, width, whole);
  if (node.kept) return share;
  if (node.hold) {
    const int idle = count_idle(frame, panels, node);
    if (node.hold->whole != whole || node.hold->idle.value_or(idle) != idle)
      node.hold.reset();
    else
      node.hold->idle = idle;
  }
  if (node.hold) share = node.hold->first;
  const float a = pressing(frame, panels, *node.first, width);
  const float b = pressing(frame, panels, *node.second, width);
  if (a > 0 && b > 0) return a + b > whole ? whole * a / (a + b) : std::clamp(share, a, whole - b);
  // A side with an error shrinks the other one, but never hides it.
  if (a > 0) {
    const float other = least_beside_error(frame, panels, *node.second, width, whole);
    return std::max(std::min(share, whole - other), std::min(a, whole - other));
  }
  if (b > 0) {
    const float other = least_beside_error(frame, panels, *node.first, width, whole);
    return std::max(std::min(share, whole - b), other);
  }
  // Without errors, no panel gets less than it needs to be of use, if there is room for all.
  const float first = least(frame, panels, *node.first, width, /*few_lines_do=*/false);
  const float second = least(frame, panels, *node.second, width, /*few_lines_do=*/false);
  if (first + second > whole) return whole * first / (first + second);
  return std::clamp(share, first, whole - second);
}

bool PanelTree::hold_tabs(PanelNode& node, const PanelNode& leaf) {
  if (node.kind == PanelNode::Kind::kLeaf) return &node == &leaf;
  if (hold_tabs(*node.first, leaf)) return true;
  if (!hold_tabs(*node.second, leaf)) return false;
  if (node.kind == PanelNode::Kind::kRows) node.hold = node.drawn;
  return true;
}

int PanelTree::count_idle(const Frame& frame, const Panels& panels, const PanelNode& node) {
  if (node.kind != PanelNode::Kind::kLeaf)
    return count_idle(frame, panels, *node.first) + count_idle(frame, panels, *node.second);
  const Panel* panel = find_panel(panels, node.active);
  return panel && is_idle(frame, node, *panel) ? 1 : 0;
}

// True if all panels below the node are idle.
bool PanelTree::only_idle(const Frame& frame, const Panels& panels, const PanelNode& node) {
  if (node.kind != PanelNode::Kind::kLeaf)
    return only_idle(frame, panels, *node.first) && only_idle(frame, panels, *node.second);
  const Panel* panel = find_panel(panels, node.active);
  return panel && is_idle(frame, node, *panel);
}

// The share given by the ratio, less what one child cannot use.
float PanelTree::usual_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                              float whole) {
  const float share = whole * node.ratio;
  if (node.kept) return share;
  const auto a = wanted(frame, panels, *node.first, width);
  const auto b = wanted(frame, panels, *node.second, width);
  if (b && (!a || *a + *b > whole)) {
    return a ? std::min(*a, std::max(share, whole - *b)) : std::max(share, whole - *b);
  }
  if (!a) return share;
  // Space that neither needs goes to the child that has something to show, less a reserve by which
  // a neighbour above may soon grow, so that this one keeps its size.
  if (b && only_idle(frame, panels, *node.second)) {
    const float reserve = frame.ui.px(48);
    const float most = whole - *b;
    const bool stays = node.stays >= *a && node.stays <= most && node.stays > most - 3 * reserve;
    if (!stays) node.stays = std::max(*a, most - reserve);
    return node.stays;
  }
  // Give the first child its full height if it needs little, beside one that could use any height.
  const float most = std::max(share, whole * 0.42f);
  return std::min(*a, b ? whole - *b : most);
}

}  // namespace hostir::gui
