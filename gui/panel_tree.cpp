#include "gui/panel_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#ifndef IMGUI_DEFINE_MATH_OPERATORS
#define IMGUI_DEFINE_MATH_OPERATORS
#endif
#include <imgui_internal.h>

namespace hostir::gui {

namespace {

class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  std::unique_ptr<PanelNode> parse() {
    auto node = parse_node(0);
    skip();
    return at_ == text_.size() ? std::move(node) : nullptr;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::unique_ptr<PanelNode> parse_node(int depth) {
    if (depth > 16) return nullptr;
    if (take('[')) return parse_tabs();
    const bool columns = take('h');
    if (!columns && !take('v')) return nullptr;
    if (!take('(')) return nullptr;
    auto node = std::make_unique<PanelNode>();
    node->kind = columns ? PanelNode::Kind::kColumns : PanelNode::Kind::kRows;
    skip();
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->ratio);
    if (error != std::errc() || !(node->ratio > 0.01f && node->ratio < 0.99f)) return nullptr;
    at_ = static_cast<size_t>(end - text_.data());
    node->first = parse_node(depth + 1);
    if (!node->first) return nullptr;
    node->second = parse_node(depth + 1);
    if (!node->second || !take(')')) return nullptr;
    return node;
  }

  std::unique_ptr<PanelNode> parse_tabs() {
    auto node = std::make_unique<PanelNode>();
    while (!take(']')) {
      std::string panel = word();
      if (panel.empty()) return nullptr;
      if (take('*')) node->active = panel;
      node->tabs.push_back(std::move(panel));
    }
    if (node->active.empty() && !node->tabs.empty()) node->active = node->tabs.front();
    node->bring_forward = true;
    return node;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string text_of(const PanelNode& node) {
  if (node.kind != PanelNode::Kind::kLeaf) {
    return fmt::format("{}({:.3f} {} {})", node.kind == PanelNode::Kind::kColumns ? "h" : "v",
                       node.ratio, text_of(*node.first), text_of(*node.second));
  }
  std::string out = "[";
  for (size_t i = 0; i < node.tabs.size(); ++i) {
    out += (i ? " " : "") + node.tabs[i] + (node.tabs[i] == node.active ? "*" : "");
  }
  return out + "]";
}

PanelNode* leaf_of(PanelNode& node, std::string_view panel) {
  if (node.kind != PanelNode::Kind::kLeaf) {
    PanelNode* found = leaf_of(*node.first, panel);
    return found ? found : leaf_of(*node.second, panel);
  }
  return std::find(node.tabs.begin(), node.tabs.end(), panel) != node.tabs.end() ? &node : nullptr;
}

// The leaf with the most room, by the product of the ratios on the way.
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

Panel* find_panel(const std::vector<std::unique_ptr<Panel>>& panels, std::string_view id) {
  for (const auto& panel : panels) {
    if (panel->id() == id) return panel.get();
  }
  return nullptr;
}

}  // namespace

std::optional<PanelTree> PanelTree::parse(std::string_view text) {
  PanelTree tree;
  tree.root_ = LayoutParser(text).parse();
  if (!tree.root_) return std::nullopt;
  return tree;
}

std::string PanelTree::to_string() const { return root_ ? text_of(*root_) : "[]"; }

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

void PanelTree::close(std::string_view panel) {
  PanelNode* leaf = leaf_of(*root_, panel);
  if (!leaf) return;
  leaf->tabs.erase(std::find(leaf->tabs.begin(), leaf->tabs.end(), panel));
  if (leaf->active == panel) leaf->active = leaf->tabs.empty() ? "" : leaf->tabs.front();
  if (!prune(root_)) root_ = std::make_unique<PanelNode>();
  if (maximised_ && *maximised_ == panel) maximised_.reset();
}

void PanelTree::move(std::string_view panel, std::string_view beside) {
  if (panel == beside) return;
  const std::string id(panel);
  PanelNode* from = leaf_of(*root_, id);
  PanelNode* to = leaf_of(*root_, beside);
  if (!to || from == to) return;
  if (from) {
    from->tabs.erase(std::find(from->tabs.begin(), from->tabs.end(), id));
    if (from->active == id) from->active = from->tabs.empty() ? "" : from->tabs.front();
  }
  to->tabs.push_back(id);
  to->active = id;
  to->bring_forward = true;
  prune(root_);
}

void PanelTree::draw(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 1 || size.y < 1 || !root_) return;
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
  float a = std::clamp(whole * node.ratio, least, std::max(least, whole - least));
  float b = whole - a;
  ImRect bar = columns ? ImRect(ImVec2(at.x + a, at.y), ImVec2(at.x + a + gap, at.y + size.y))
                       : ImRect(ImVec2(at.x, at.y + a), ImVec2(at.x + size.x, at.y + a + gap));
  const ImGuiID id = ImGui::GetID(&node);
  if (ImGui::SplitterBehavior(bar, id, columns ? ImGuiAxis_X : ImGuiAxis_Y, &a, &b, least, least,
                              gap)) {
    node.ratio = std::clamp(a / whole, 0.02f, 0.98f);
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
  if (ImGui::MenuItem("Close")) after_.push_back([this, panel] { close(panel); });
  ImGui::Separator();
  for (const std::string& other : node.tabs) {
    if (other != panel && ImGui::MenuItem(("Split beside " + other).c_str())) {
      after_.push_back([this, panel, other] {
        PanelNode* leaf = leaf_of(*root_, other);
        if (!leaf) return;
        leaf->tabs.erase(std::find(leaf->tabs.begin(), leaf->tabs.end(), panel));
        auto first = std::make_unique<PanelNode>();
        first->tabs = std::exchange(leaf->tabs, {});
        first->active = other;
        auto second = std::make_unique<PanelNode>();
        second->tabs = {panel};
        second->active = panel;
        leaf->kind = PanelNode::Kind::kColumns;
        leaf->first = std::move(first);
        leaf->second = std::move(second);
      });
    }
  }
  static_cast<void>(frame);
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
    for (const std::string& id : std::vector<std::string>(node.tabs)) {
      Panel* found = find_panel(panels, id);
      if (!found) continue;
      const std::string label = std::string(found->title()) + "###" + id;
      const ImGuiTabItemFlags flags =
          forward && id == node.active ? ImGuiTabItemFlags_SetSelected : 0;
      const bool open = ImGui::BeginTabItem(label.c_str(), nullptr, flags);
      frame.ui.tag("tab/" + id, found->title());
      if (ImGui::IsItemHovered() && GImGui->HoveredIdTimer > 0.5f)
        ImGui::SetTooltip("%s", std::string(found->hint()).c_str());
      draw_tab_menu(frame, node, id);
      if (ImGui::BeginDragDropSource(ImGuiDragDropFlags_SourceNoPreviewTooltip)) {
        ImGui::SetDragDropPayload("hostir_panel", id.c_str(), id.size() + 1);
        ImGui::EndDragDropSource();
      }
      if (!open) continue;
      if (!forward) node.active = id;
      ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(frame.ui.px(7), frame.ui.px(5)));
      ImGui::BeginChild(id.c_str(), ImVec2(0, 0), false, ImGuiWindowFlags_AlwaysUseWindowPadding);
      ImGui::PopStyleVar();
      if (ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) focused_ = id;
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
  }
  ImGui::EndChild();
  if (ImGui::BeginDragDropTarget()) {
    if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload("hostir_panel")) {
      const std::string dragged(static_cast<const char*>(payload->Data));
      const std::string beside = node.tabs.empty() ? "" : node.tabs.front();
      after_.push_back([this, dragged, beside] { move(dragged, beside); });
    }
    ImGui::EndDragDropTarget();
  }
  ImGui::PopID();
}

const std::vector<NamedLayout>& builtin_layouts() {
  static const std::vector<NamedLayout> kLayouts = {
      {"Step",
       "v(0.64 h(0.30 v(0.72 [host_ir* phases editor] [breaks* ranks messages]) h(0.62 [layout* "
       "values history memory explain diff] "
       "v(0.52 [ledger* events sql] [waits*]))) [timeline*])"},
      {"Timeline",
       "v(0.30 h(0.34 [host_ir* phases] h(0.5 [events* ledger sql] [layout* values history "
       "memory])) [timeline*])"},
      {"Compare",
       "h(0.34 [host_ir* phases] v(0.6 [diff* values layout history] [events* messages]))"},
      {"Deadlock",
       "h(0.36 v(0.65 [host_ir* phases] [ranks* messages breaks]) v(0.5 [waits*] [ledger* "
       "events]))"},
  };
  return kLayouts;
}

}  // namespace hostir::gui
