// A panel: one view of the model, in its own file under gui/panels.
//
// Panels draw into the child window that the panel tree opens for them. They hold only view state
// (scroll, formats, filters) and change anything else through the model's selection or commands.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/app/actions.h"
#include "gui/draw/ui.h"
#include "gui/state/model.h"

namespace hostir::gui {

/// What a panel gets each frame.
struct Frame {
  Ui& ui;
  Model& model;
  Actions& actions;
};

/// A key that a panel handles itself while the pointer is over it.
struct PanelKey {
  std::string_view key;
  std::string_view label;
  std::string_view help;
};

/// How much height a panel can use now. An idle panel shrinks to its tab and the first sentence of
/// its hint; a panel that needs little height leaves the rest to its neighbours.
struct HeightRequest {
  enum class Kind : uint8_t { kIdle, kSome, kAll } kind = Kind::kAll;
  float height = 0;  // for kSome: height of the content, in pixels
  float least = 0;   // > 0: an error is shown; neighbours leave at least this height
  float fewest = 0;  // > 0: with less than this height the panel is of no use; neighbours yield
  static HeightRequest idle() { return {Kind::kIdle, 0}; }
  static HeightRequest some(float height) { return {Kind::kSome, height}; }
};

class Panel {
 public:
  virtual ~Panel() = default;
  virtual std::string_view id() const = 0;     // stable, in layouts and scripts: "host_ir"
  virtual std::string_view title() const = 0;  // shown on the tab
  virtual std::string_view hint() const = 0;   // its purpose: tooltip of the tab, text when empty
  virtual void draw(Frame& frame) = 0;
  /// Called before drawing, and only if the panel can be shown (a session is open, or none is
  /// needed).
  virtual HeightRequest wanted_height(const Frame&) const { return {}; }
  /// False for panels that work without an open session (messages, editor).
  virtual bool needs_session() const { return true; }
  /// True if the last frame showed an answer that `table` writes as CSV.
  virtual bool has_table() const { return false; }
  virtual ExportRequest table() const { return {}; }
  /// Keys for the list of keys; none of them may be the key of an action.
  virtual std::span<const PanelKey> keys() const { return {}; }
  /// View state saved with the layout: `key=value` lines; empty if there is none. `restore` gets
  /// the same lines, each with its newline.
  virtual std::string save() const { return {}; }
  virtual void restore(std::string_view) {}
};

/// All panels, one of each, in the order of the View menu.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace hostir::gui
