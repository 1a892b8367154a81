// The arrangement of panels: a tree of splits with tabs at the leaves (ImGui 1.86 has no docking).
//
// A layout is one line of text, `h(0.27 v(0.7 [host_ir fusion*] [breaks]) ...)`, so it can be
// saved, edited and tested. Each panel is in at most one leaf; panels in none are closed. Tabs can
// be dragged onto other leaves or their edges, or moved with their context menu. Leaves in a column
// share its height according to what their panels have to show (Panel::wanted_height). A leaf that
// the user sized or opened by hand, `h!(...)`, `[...]!`, keeps its share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/tree/panel.h"

namespace hostir::gui {

struct PanelNode {
  enum class Kind : uint8_t { kLeaf, kColumns, kRows } kind = Kind::kLeaf;
  float ratio = 0.5f;  // fraction that goes to the first child
  std::unique_ptr<PanelNode> first;
  std::unique_ptr<PanelNode> second;
  std::vector<std::string> tabs;  // panel ids
  std::string active;
  bool bring_forward = false;
  bool kept = false;  // sized or opened by hand: not shrunk when it has little to show
  // The greatest height that a panel of this leaf could use since the current file was opened. A
  // leaf that has grown does not shrink again, so that nothing moves under the mouse while the user
  // steps or switches tabs.
  float most = 0;
  bool most_is_all = false;
  float stays = 0;  // rows: height given to the first child above idle panels
  // Rows, after the user chose a tab in the second child: the first child keeps its height, so that
  // the tab bar stays under the mouse. This ends when the height of both together changes, or when
  // an idle panel gets its first contents.
  struct Hold {
    float first = 0;
    float whole = 0;
    std::optional<int> idle;  // number of idle panels; nullopt until the next frame counts them
  };
  std::optional<Hold> hold;
  Hold drawn;                     // rows: heights in the last frame
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
  /// Brings the panel forward; a closed one opens in the largest leaf. Ends the maximised state of
  /// any other panel.
  void show(std::string_view panel);
  /// Brings the tab to the front of its leaf if the panel is open; changes nothing else.
  void bring_forward(std::string_view panel);
  void close(std::string_view panel);
  enum class Side : uint8_t { kTabs, kLeft, kRight, kAbove, kBelow };
  /// Moves a panel into the leaf of panel `beside`, or into a new leaf at a side of it.
  void move(std::string_view panel, std::string_view beside, Side side = Side::kTabs);
  bool is_maximised() const { return maximised_.has_value(); }
  void maximise(std::optional<std::string> panel) { maximised_ = std::move(panel); }
  /// The panel that the mouse was last in.
  const std::string& focused() const { return focused_; }

 private:
  using Panels = std::vector<std::unique_ptr<Panel>>;
  /// Height that the node can use, including its tabs; nullopt: as much as there is.
  static std::optional<float> wanted(Frame& frame, const Panels& panels, PanelNode& node,
                                     float width);
  /// Height for a few lines of every panel below the node, including tabs.
  static float least(Frame& frame, const Panels& panels, PanelNode& node, float width,
                     bool few_lines_do);
  /// Height that stays for a node beside one that shows an error, of `whole` for both.
  static float least_beside_error(Frame& frame, const Panels& panels, PanelNode& node, float width,
                                  float whole);
  /// Height that the node needs to show errors (HeightRequest::least); 0 if there are none.
  static float pressing(Frame& frame, const Panels& panels, PanelNode& node, float width);
  static int count_idle(const Frame& frame, const Panels& panels, const PanelNode& node);
  static bool only_idle(const Frame& frame, const Panels& panels, const PanelNode& node);
  static float usual_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                            float whole);
  static float first_height(Frame& frame, const Panels& panels, PanelNode& node, float width,
                            float whole);
  /// Keeps the tab bar of the leaf where it is; returns false if the leaf is not below the node.
  static bool hold_tabs(PanelNode& node, const PanelNode& leaf);
  /// Draws the sentence of an idle panel at the end of its tabs.
  static void draw_idle(Frame& frame, PanelNode& node, const Panel& panel, ImVec2 at);
  void draw_node(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels, PanelNode& node,
                 ImVec2 at, ImVec2 size);
  void draw_leaf(Frame& frame, const std::vector<std::unique_ptr<Panel>>& panels, PanelNode& node,
                 ImVec2 at, ImVec2 size);
  void accept_drop(Frame& frame, const PanelNode& node, ImVec2 at, ImVec2 size);
  void draw_tab_menu(Frame& frame, PanelNode& node, const std::string& panel);

  std::unique_ptr<PanelNode> root_;
  std::optional<std::string> maximised_;
  std::string focused_;
  std::string opened_;  // path of the open file that the remembered rooms belong to
  std::vector<std::function<void()>>
      after_;  // changes to the tree, applied when it is not being drawn
};

/// The built-in layouts: name and text.
struct NamedLayout {
  std::string_view name;
  std::string_view text;
};
const std::vector<NamedLayout>& builtin_layouts();

}  // namespace hostir::gui
