// The arrangement of panels: a tree of splits with tabs at the leaves (ImGui 1.86 has no docking).
//
// A layout is one line of text, `h(0.27 v(0.7 [host_ir fusion*] [breaks]) ...)`, so that it can be
// saved, edited and tested. Every panel is in at most one leaf; panels that are in none are closed.
// Tabs can be dragged onto other leaves or to their edges, or moved by their context menu. Leaves
// that stand above each other share the height by what their panels have to show (Panel::room); one
// that a person has sized or opened by hand, `h!(...)`, `[...]!`, keeps its share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/panel.h"

namespace hostir::gui {

struct PanelNode {
  enum class Kind : uint8_t { kLeaf, kColumns, kRows } kind = Kind::kLeaf;
  float ratio = 0.5f;  // of the first child
  std::unique_ptr<PanelNode> first;
  std::unique_ptr<PanelNode> second;
  std::vector<std::string> tabs;  // panel ids
  std::string active;
  bool bring_forward = false;
  bool kept = false;  // sized or opened by hand: not made smaller for having little to show
  // The most room that a panel of the leaf had a use for since another file was opened: what has
  // grown does not shrink again, so that nothing moves under the mouse while one steps or changes
  // tabs.
  float most = 0;
  bool most_is_all = false;
  std::vector<std::string> busy;  // panels that have had something to show
};
/// nullptr if the text is not a layout.
std::unique_ptr<PanelNode> parse_layout(std::string_view text);
std::string layout_text(const PanelNode& node);

class PanelTree {
 public:
  /// nullopt if the text is not a layout.
  static std::optional<PanelTree> parse(std::string_view text);
  std::string to_string() const;

  /// Draws splitters, tabs and the active panels into the current window's free space.
  void draw(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels);

  bool is_open(std::string_view panel) const;
  /// Opens it in the leaf that fits best (where it last was, else the largest), or brings it
  /// forward.
  void show(std::string_view panel);
  /// The tab in front of its leaf, where the panel is open; nothing else changes.
  void bring_forward(std::string_view panel);
  void close(std::string_view panel);
  enum class Side : uint8_t { kTabs, kLeft, kRight, kAbove, kBelow };
  /// Puts a panel among the tabs of another one's leaf, or into a new leaf at a side of it.
  void move(std::string_view panel, std::string_view beside, Side side = Side::kTabs);
  bool is_maximised() const { return maximised_.has_value(); }
  void maximise(std::optional<std::string> panel) { maximised_ = std::move(panel); }
  /// The panel that the mouse was in last.
  const std::string& focused() const { return focused_; }

 private:
  using Panels = std::vector<std::unique_ptr<Panel>>;
  /// Height that the node has a use for, with its tabs; nullopt: whatever there is.
  static std::optional<float> wanted(Frame& frame, const Panels& panels, PanelNode& node,
                                     float width);
  /// A few lines of every panel below the node, with their tabs.
  static float least(Frame& frame, const Panels& panels, PanelNode& node, float width);
  /// Height that the node needs for what went wrong (Room::least); 0: nothing did.
  static float pressing(Frame& frame, const Panels& panels, PanelNode& node, float width);
  static float usual_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                            float whole);
  static float first_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                            float whole);
  void draw_idle(Frame& frame, PanelNode& node, const Panel& panel);
  void draw_node(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels, PanelNode& node,
                 ImVec2 at, ImVec2 size);
  void draw_leaf(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels, PanelNode& node,
                 ImVec2 at, ImVec2 size);
  void accept_drop(Frame& frame, const PanelNode& node, ImVec2 at, ImVec2 size);
  void draw_tab_menu(Frame& frame, PanelNode& node, const std::string& panel);

  std::unique_ptr<PanelNode> root_;
  std::optional<std::string> maximised_;
  std::string focused_;
  std::string opened_;  // path of what the rooms that the nodes remember are of
  std::vector<std::function<void()>>
      after_;  // changes of the tree, made when it is not being drawn
};

/// The built-in layouts: name and text.
struct NamedLayout {
  std::string_view name;
  std::string_view text;
};
const std::vector<NamedLayout>& builtin_layouts();

}  // namespace hostir::gui
