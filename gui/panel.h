// A panel: one view of the model, in a file of its own under gui/panels.
//
// Panels draw into the child window that the panel tree has opened for them. They hold only view
// state (scroll, formats, filters); what they change goes through the model's selection or its
// commands.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/actions.h"
#include "gui/model.h"
#include "gui/ui.h"

namespace hostir::gui {

/// What a panel is given each frame.
struct Frame {
  Ui& ui;
  Model& model;
  Actions& actions;
};

/// A key that a panel acts on by itself, while the pointer is over it.
struct PanelKey {
  std::string_view key;
  std::string_view label;
  std::string_view help;
};

/// How much height a panel has a use for now. An idle one shrinks to its tab and the first sentence
/// of its hint; one that needs little leaves the rest to its neighbours.
struct Room {
  enum class Kind : uint8_t { kIdle, kSome, kAll } kind = Kind::kAll;
  float height = 0;  // kSome: of its content, in pixels
  float least = 0;   // > 0: what went wrong is in it: neighbours make room for this height
  static Room idle() { return {Kind::kIdle, 0}; }
  static Room some(float height) { return {Kind::kSome, height}; }
};

class Panel {
 public:
  virtual ~Panel() = default;
  virtual std::string_view id() const = 0;     // stable, in layouts and scripts: "host_ir"
  virtual std::string_view title() const = 0;  // on the tab
  virtual std::string_view hint() const = 0;  // what it is for; tooltip of the tab, text when empty
  virtual void draw(Frame& frame) = 0;
  /// Asked before it is drawn, only while a session is open or none is needed.
  virtual Room room(const Frame&) const { return {}; }
  /// Works without an open session (messages, editor).
  virtual bool needs_session() const { return true; }
  /// For the list of keys; none of them is a key of an action.
  virtual std::span<const PanelKey> keys() const { return {}; }
  /// View state that is kept with the layout: `key=value` lines; empty if there is none. `restore`
  /// is given the same lines, each with its end.
  virtual std::string save() const { return {}; }
  virtual void restore(std::string_view) {}
};

/// All panels, one of each, in the order of the View menu.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace hostir::gui
