// One table of everything the user can do in the window. Menus, toolbar, keys, palette, help and
// the headless script are built from it.
//
// Session actions are lines of the debugger's command language
// (interp/session/commands/command_table.h); view actions change only the window. Panels request
// actions by name and never run them directly.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hostir::gui {

struct Action {
  std::string name;   // stable: "step", "view.theme", "panel.timeline"
  std::string label;  // in menus: "Step over"
  std::string menu;   // "File", "Run", "Break", "View", "Panels", "Help"; empty: palette only
  std::string key;    // "F10", "Shift+F10", "Ctrl+O"; empty: none
  std::string help;   // one sentence
  std::function<void()> run;
  std::function<bool()> enabled;  // empty: always
};

class Actions {
 public:
  void add(Action action);
  const std::vector<Action>& all() const { return actions_; }
  const Action* find(std::string_view name) const;
  /// Queues an action for the end of the frame; actions run in the order requested. Returns false,
  /// and does nothing, if the name is unknown or the action is disabled.
  bool request(std::string_view name);
  /// Queues a line of the command language for the end of the frame.
  void command(std::string text);
  /// Runs the queued actions and passes the queued command lines to `execute`.
  void flush(const std::function<void(const std::string&)>& execute);
  /// The action whose key was pressed this frame; nullptr if none, or if the user is typing text.
  const Action* pressed() const;

 private:
  std::vector<Action> actions_;
  std::vector<std::function<void()>> requested_;
  std::vector<std::string> commands_;
};

/// True if this key combination ("Ctrl+Shift+F5") was pressed this frame. ImGui 1.86 uses raw GLFW
/// key codes; only this file deals with them.
bool key_pressed(std::string_view combination);
/// The GLFW code for a key name, or -1. For scripts that press keys.
int key_code(std::string_view key);

}  // namespace hostir::gui
