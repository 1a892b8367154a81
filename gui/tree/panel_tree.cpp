#include "gui/tree/panel_tree.h"

#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "gui/tree/panel_height.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

PanelNode* leaf_of(PanelNode& node, std::string_view panel) {
  if (node.kind != PanelNode::Kind::kLeaf) {
    PanelNode* found = leaf_of(*node.first, panel);
    return found ? found : leaf_of(*node.second, panel);
  }
  return contains(node.tabs, panel) ? &node : nullptr;
}

// The largest leaf, measured by the product of the ratios above it.
PanelNode* largest_leaf(PanelNode& node, float share, float& best) {
  if (node.kind == PanelNode::Kind::kLeaf) {
    if (share <= best) return nullptr;
    best = share;
    return &node;
  }
  PanelNode* a = largest_leaf(*node.first, share * node.ratio, best);
  PanelNode* b = largest_leaf(*node.second, share * (1 - node.ratio), best);
  return b ? b : a;
}

// Drops leaves without tabs; false if nothing is left of the node.
bool prune(std::unique_ptr<PanelNode>& node) {
  if (node->kind == PanelNode::Kind::kLeaf) return !node->tabs.empty();
  const bool first = prune(node->first);
  const bool second = prune(node->second);
  if (first && second) return true;
  if (!first && !second) return false;
  std::unique_ptr<PanelNode> rest = std::move(first ? node->first : node->second);
  node = std::move(rest);
  return true;
}

// Turns the leaf into a split of itself and a new leaf that holds the panel.
void split_leaf(PanelNode& leaf, const std::string& panel, PanelTree::Side side) {
  using Side = PanelTree::Side;
  auto old = std::make_unique<PanelNode>();
  old->tabs = std::exchange(leaf.tabs, {});
  old->active = std::exchange(leaf.active, {});
  old->bring_forward = true;
  auto fresh = std::make_unique<PanelNode>();
  fresh->tabs = {panel};
  fresh->active = panel;
  const bool first = side == Side::kLeft || side == Side::kAbove;
  leaf.kind = side == Side::kLeft || side == Side::kRight ? PanelNode::Kind::kColumns
                                                          : PanelNode::Kind::kRows;
  leaf.ratio = 0.5f;
  leaf.first = std::move(first ? fresh : old);
  leaf.second = std::move(first ? old : fresh);
}

// Where a panel dropped at `mouse` goes: near an edge to that side; in the middle or on the tab
// bar, among the tabs.
PanelTree::Side side_at(ImVec2 mouse, ImVec2 at, ImVec2 size, float tab_bar) {
  using Side = PanelTree::Side;
  constexpr float kEdge = 0.22f;
  if (size.x < 1) return Side::kTabs;
  const float x = (mouse.x - at.x) / size.x;
  // An idle panel is only a tab bar high: its left and right edges are in the bar.
  if (size.y < 2 * tab_bar) {
    constexpr float kBarEdge = 0.06f;
    return x < kBarEdge ? Side::kLeft : x > 1 - kBarEdge ? Side::kRight : Side::kTabs;
  }
  if (mouse.y < at.y + tab_bar) return Side::kTabs;
  const float y = (mouse.y - at.y - tab_bar) / (size.y - tab_bar);
  const float nearest = std::min({x, 1 - x, y, 1 - y});
  if (nearest > kEdge) return Side::kTabs;
  if (nearest == x) return Side::kLeft;
  if (nearest == 1 - x) return Side::kRight;
  return nearest == y ? Side::kAbove : Side::kBelow;
}

ImRect side_rect(PanelTree::Side side, ImVec2 at, ImVec2 size) {
  using Side = PanelTree::Side;
  ImRect r(at, ImVec2(at.x + size.x, at.y + size.y));
  if (side == Side::kLeft) r.Max.x = at.x + size.x / 2;
  if (side == Side::kRight) r.Min.x = at.x + size.x / 2;
  if (side == Side::kAbove) r.Max.y = at.y + size.y / 2;
  if (side == Side::kBelow) r.Min.y = at.y + size.y / 2;
  return r;
}

}  // namespace

std::optional<PanelTree> PanelTree::parse(std::string_view text) {
  PanelTree tree;
  tree.root_ = parse_layout(text);
  if (!tree.root_) return std::nullopt;
  return tree;
}

std::string PanelTree::to_string() const { return root_ ? layout_text(*root_) : "[]"; }

bool PanelTree::is_open(std::string_view panel) const {
  return root_ && leaf_of(*root_, panel) != nullptr;
}

void PanelTree::show(std::string_view panel) {
  PanelNode* leaf = leaf_of(*root_, panel);
  if (!leaf) {
    float best = -1;
    leaf = largest_leaf(*root_, 1, best);
    leaf->tabs.emplace_back(panel);
  }
  leaf->active = std::string(panel);
  leaf->bring_forward = true;
  if (maximised_ && *maximised_ != panel) maximised_.reset();
}

void PanelTree::bring_forward(std::string_view panel) {
  PanelNode* leaf = leaf_of(*root_, panel);
  if (!leaf) return;
  leaf->active = std::string(panel);
  leaf->bring_forward = true;
}

void PanelTree::close(std::string_view panel) {
  PanelNode* leaf = leaf_of(*root_, panel);
  if (!leaf) return;
  leaf->tabs.erase(std::find(leaf->tabs.begin(), leaf->tabs.end(), panel));
  if (leaf->active == panel) leaf->active = leaf->tabs.empty() ? "" : leaf->tabs.front();
  if (!prune(root_)) root_ = std::make_unique<PanelNode>();
  if (maximised_ && *maximised_ == panel) maximised_.reset();
}

void PanelTree::move(std::string_view panel, std::string_view beside, Side side) {
  const std::string id(panel);
  PanelNode* to = leaf_of(*root_, beside);
  if (!to || (panel == beside && (side == Side::kTabs || to->tabs.size() == 1))) return;
  PanelNode* from = leaf_of(*root_, id);
  if (from == to && side == Side::kTabs) return;
  if (from) {
    from->tabs.erase(std::find(from->tabs.begin(), from->tabs.end(), id));
    if (from->active == id) from->active = from->tabs.empty() ? "" : from->tabs.front();
  }
  if (side == Side::kTabs) {
    to->tabs.push_back(id);
    to->active = id;
    to->bring_forward = true;
  } else {
    split_leaf(*to, id, side);
  }
  prune(root_);
}

void PanelTree::draw_idle(Frame& frame, PanelNode& node, const Panel& panel, ImVec2 at) {
  const float space = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - at.x - frame.ui.px(kPadX);
  // One or two words of the sentence would be useless; the tooltip shows all of it.
  const bool has_room = space >= frame.ui.px(140);
  const std::string text = has_room ? first_sentence(panel.hint()) : "";
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("idle", ImVec2(std::max(1.0f, space), ImGui::GetFrameHeight()));
  frame.ui.draw_elided(ImGui::GetWindowDrawList(),
                       ImVec2(at.x, at.y + ImGui::GetStyle().FramePadding.y),
                       frame.ui.pal().text_dim, text, space);
  frame.ui.tag("idle/" + std::string(panel.id()), text);
  if (!ImGui::IsItemHovered()) return;
  Ui::tooltip("%s\nclick: keep this panel open", std::string(panel.hint()).c_str());
  if (ImGui::IsItemClicked()) node.kept = true;
}

void PanelTree::draw(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 1 || size.y < 1 || !root_) return;
  if (opened_ != frame.model.path()) {
    opened_ = frame.model.path();
    forget_rooms(*root_);
  }
  PanelNode* alone = maximised_ ? leaf_of(*root_, *maximised_) : nullptr;
  if (alone) {
    draw_leaf(frame, panels, *alone, at, size);
  } else {
    draw_node(frame, panels, *root_, at, size);
  }
  for (const auto& change : std::exchange(after_, {})) change();
}

void PanelTree::draw_node(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels,
                          PanelNode& node, ImVec2 at, ImVec2 size) {
  if (node.kind == PanelNode::Kind::kLeaf) {
    draw_leaf(frame, panels, node, at, size);
    return;
  }
  const bool columns = node.kind == PanelNode::Kind::kColumns;
  const float gap = frame.ui.px(4);
  const float whole = (columns ? size.x : size.y) - gap;
  const float least = std::min(frame.ui.px(60), whole / 2);
  const float share =
      columns ? whole * node.ratio : first_height(frame, panels, node, size.x, whole);
  if (!columns) node.drawn = {share, whole, std::nullopt};
  const float smallest = columns ? least : std::min(least, ImGui::GetFrameHeightWithSpacing());
  float a = std::clamp(share, smallest, std::max(smallest, whole - smallest));
  float b = whole - a;
  ImRect bar = columns ? ImRect(ImVec2(at.x + a, at.y), ImVec2(at.x + a + gap, at.y + size.y))
                       : ImRect(ImVec2(at.x, at.y + a), ImVec2(at.x + size.x, at.y + a + gap));
  const ImGuiID id = ImGui::GetID(&node);
  if (ImGui::SplitterBehavior(bar, id, columns ? ImGuiAxis_X : ImGuiAxis_Y, &a, &b, least, least,
                              gap)) {
    node.ratio = std::clamp(a / whole, 0.02f, 0.98f);
    node.kept = true;
  }
  const ImVec2 first = columns ? ImVec2(a, size.y) : ImVec2(size.x, a);
  const ImVec2 second = columns ? ImVec2(b, size.y) : ImVec2(size.x, b);
  draw_node(frame, panels, *node.first, at, first);
  draw_node(frame, panels, *node.second,
            columns ? ImVec2(at.x + a + gap, at.y) : ImVec2(at.x, at.y + a + gap), second);
}

void PanelTree::draw_tab_menu(Frame& frame, PanelNode& node, const std::string& panel) {
  if (!ImGui::BeginPopupContextItem()) return;
  if (ImGui::MenuItem(maximised_ ? "Restore" : "Maximise", "Shift+Esc")) {
    after_.push_back([this, panel] { maximise(maximised_ ? std::nullopt : std::optional(panel)); });
  }
  if (ImGui::MenuItem("Keep its size", nullptr, node.kept)) node.kept = !node.kept;
  frame.ui.tag("tab/menu/Keep its size");
  if (ImGui::MenuItem("Close")) after_.push_back([this, panel] { close(panel); });
  ImGui::Separator();
  const auto other = std::find_if(node.tabs.begin(), node.tabs.end(),
                                  [&](const std::string& t) { return t != panel; });
  for (const auto& [label, side] :
       {std::pair("Split to the right", Side::kRight), std::pair("Split below", Side::kBelow)}) {
    if (ImGui::MenuItem(label, nullptr, false, other != node.tabs.end()))
      after_.push_back([this, panel, beside = *other, side = side] { move(panel, beside, side); });
    frame.ui.tag(std::string("tab/menu/") + label);
  }
  ImGui::EndPopup();
}

void PanelTree::draw_leaf(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels,
                          PanelNode& node, ImVec2 at, ImVec2 size) {
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(&node);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("leaf", size, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (ImGui::BeginTabBar("tabs",
                         ImGuiTabBarFlags_FittingPolicyScroll | ImGuiTabBarFlags_NoTooltip)) {
    const bool forward = std::exchange(node.bring_forward, false);
    ImVec2 tabs_end;
    const Panel* idle = nullptr;
    for (const std::string& id : std::vector<std::string>(node.tabs)) {
      Panel* found = find_panel(panels, id);
      if (!found) continue;
      const std::string label = std::string(found->title()) + "###" + id;
      const ImGuiTabItemFlags flags =
          forward && id == node.active ? ImGuiTabItemFlags_SetSelected : 0;
      const bool open = ImGui::BeginTabItem(label.c_str(), nullptr, flags);
      frame.ui.tag("tab/" + id, found->title());
      tabs_end = ImVec2(ImGui::GetItemRectMax().x + frame.ui.px(12), ImGui::GetItemRectMin().y);
      if (open) {  // mark the active tab by a line on top, not only by its background
        const ImVec2 min = ImGui::GetItemRectMin();
        ImGui::GetWindowDrawList()->AddRectFilled(
            min, ImVec2(ImGui::GetItemRectMax().x, min.y + frame.ui.px(2)), frame.ui.pal().accent);
      }
      if (ImGui::IsItemHovered() && GImGui->HoveredIdTimer > 0.5f)
        Ui::tooltip("%s", std::string(found->hint()).c_str());
      draw_tab_menu(frame, node, id);
      if (ImGui::BeginDragDropSource()) {
        ImGui::TextUnformatted(std::string(found->title()).c_str());
        ImGui::SetDragDropPayload("hostir_panel", id.c_str(), id.size() + 1);
        ImGui::EndDragDropSource();
      }
      if (!open) continue;
      if (!forward && node.active != id) {
        // An idle panel is one line: its bar moves when the leaf opens.
        const Panel* before = find_panel(panels, node.active);
        const bool opens = before && is_idle(frame, node, *before) && !is_idle(frame, node, *found);
        node.active = id;
        if (!opens) hold_tabs(*root_, node);
      }
      if (is_idle(frame, node, *found) && !maximised_) {
        idle = found;
        if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) focused_ = id;
        ImGui::EndTabItem();
        continue;
      }
      ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                          ImVec2(frame.ui.px(kPadX), frame.ui.px(kPadY)));
      ImGui::BeginChild(id.c_str(), ImVec2(0, 0), false, ImGuiWindowFlags_AlwaysUseWindowPadding);
      ImGui::PopStyleVar();
      if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) focused_ = id;
      frame.ui.panel = id;
      if (found->needs_session() && !frame.model.snapshot()) {
        frame.ui.empty_hint(
            std::string(found->hint()) +
            "\n\nOpen a program or a log first: File, Open (Ctrl+O), or drop it here.");
      } else {
        found->draw(frame);
      }
      ImGui::EndChild();
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
    if (idle) draw_idle(frame, node, *idle, tabs_end);
  }
  ImGui::EndChild();
  accept_drop(frame, node, at, size);
  ImGui::PopID();
}

void PanelTree::accept_drop(Frame& frame, const PanelNode& node, ImVec2 at, ImVec2 size) {
  const std::string here = node.tabs.empty() ? "" : node.active;
  const float edge = frame.ui.px(6);
  frame.ui.tag_rect("leaf/" + here, at, ImVec2(at.x + size.x, at.y + size.y));
  frame.ui.tag_rect("leaf/" + here + "/right", ImVec2(at.x + size.x - edge, at.y + size.y * 0.5f),
                    ImVec2(at.x + size.x - 1, at.y + size.y * 0.6f));
  if (!ImGui::BeginDragDropTarget()) return;
  const Side side =
      side_at(ImGui::GetIO().MousePos, at, size, ImGui::GetFrameHeight() + frame.ui.px(4));
  constexpr ImGuiDragDropFlags kFlags =
      ImGuiDragDropFlags_AcceptNoDrawDefaultRect | ImGuiDragDropFlags_AcceptBeforeDelivery;
  if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload("hostir_panel", kFlags)) {
    const ImRect preview = side_rect(side, at, size);
    ImGui::GetForegroundDrawList()->AddRectFilled(preview.Min, preview.Max,
                                                  with_alpha(frame.ui.pal().accent, 0.25f));
    if (payload->IsDelivery()) {
      const std::string dragged(static_cast<const char*>(payload->Data));
      std::string beside = here;
      for (const std::string& tab : node.tabs) {
        if (beside == dragged && tab != dragged) beside = tab;
      }
      after_.push_back([this, dragged, beside, side] { move(dragged, beside, side); });
    }
  }
  ImGui::EndDragDropTarget();
}

}  // namespace hostir::gui
