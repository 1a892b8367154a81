// Everything a person can do in the window, as one table: menus, toolbar, keys, palette, help and
// the headless script are made from it.
//
// Session actions are lines of the debugger's command language (interp/session/command_table.h);
// view actions change the window only. Panels request actions by name and never act on their own.
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
  /// Runs at the end of the frame, in order; unknown or disabled names do nothing and return false.
  bool request(std::string_view name);
  /// A line of the command language, at the end of the frame.
  void command(std::string text);
  /// Runs what was requested; `execute` takes command lines.
  void flush(const std::function<void(const std::string&)>& execute);
  /// The action whose key was pressed this frame; nullptr if none or if text is being typed.
  const Action* pressed() const;

 private:
  std::vector<Action> actions_;
  std::vector<std::function<void()>> requested_;
  std::vector<std::string> commands_;
};

/// True if this key combination ("Ctrl+Shift+F5") was pressed in this frame. ImGui 1.86 knows raw
/// GLFW key codes; this file is the one that knows them.
bool key_pressed(std::string_view combination);
/// The GLFW code of a key's name; -1 if there is none. For scripts that press keys.
int key_code(std::string_view key);

}  // namespace hostir::gui
