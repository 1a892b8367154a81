#include "gui/app/actions.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace hostir::gui {

void Actions::add(Action action) { actions_.push_back(std::move(action)); }

const Action* Actions::find(std::string_view name) const {
  const auto at = std::find_if(actions_.begin(), actions_.end(),
                               [&](const Action& a) { return a.name == name; });
  return at == actions_.end() ? nullptr : &*at;
}

bool Actions::request(std::string_view name) {
  const Action* action = find(name);
  if (!action || (action->enabled && !action->enabled())) return false;
  requested_.push_back(action->run);
  return true;
}

void Actions::command(std::string text) { commands_.push_back(std::move(text)); }

void Actions::flush(const std::function<void(const std::string&)>& execute) {
  for (const auto& run : std::exchange(requested_, {})) run();
  for (const std::string& text : std::exchange(commands_, {})) execute(text);
}

namespace {

// True for combinations that produce no text and therefore also work in a text field. Ctrl+Alt does
// not count: on some keyboard layouts it types `@`.
bool works_while_typing(std::string_view combination) {
  const bool ctrl = combination.find("Ctrl+") != std::string_view::npos;
  const size_t plus = combination.rfind('+', combination.size() - 2);
  const std::string_view key =
      plus == std::string_view::npos ? combination : combination.substr(plus + 1);
  if (key.size() > 1 && key[0] == 'F' && key_code(key) >= 0) return true;
  constexpr std::string_view kOfTheField = "ACVXYZ";
  return ctrl && combination.find("Alt+") == std::string_view::npos && key.size() == 1 &&
         kOfTheField.find(key) == std::string_view::npos;
}

}  // namespace

namespace {

// Keys for small moves repeat while held down. Others do not: holding F5 a moment too long must not
// continue past the stop.
bool repeats(std::string_view combination) {
  constexpr std::string_view kRepeating[] = {"F10", "F11", "Left", "Right", "Up", "Down",
                                             ",",   ".",   "[",    "]",     "=",  "-"};
  return std::any_of(std::begin(kRepeating), std::end(kRepeating), [&](std::string_view key) {
    return combination == key || combination.ends_with("+" + std::string(key));
  });
}

}  // namespace

const Action* Actions::pressed() const {
  const bool typing = ImGui::GetIO().WantTextInput;
  for (const Action& action : actions_) {
    if (action.key.empty() || !key_pressed(action.key)) continue;
    if (!typing || works_while_typing(action.key)) return &action;
  }
  return nullptr;
}

int key_code(std::string_view key) {
  static constexpr std::pair<std::string_view, int> kNamed[] = {
      {"Left", GLFW_KEY_LEFT},       {"Right", GLFW_KEY_RIGHT},   {"Up", GLFW_KEY_UP},
      {"Down", GLFW_KEY_DOWN},       {"Esc", GLFW_KEY_ESCAPE},    {"Enter", GLFW_KEY_ENTER},
      {"Space", GLFW_KEY_SPACE},     {"Tab", GLFW_KEY_TAB},       {"Home", GLFW_KEY_HOME},
      {"End", GLFW_KEY_END},         {"Delete", GLFW_KEY_DELETE}, {"Pause", GLFW_KEY_PAUSE},
      {",", GLFW_KEY_COMMA},         {".", GLFW_KEY_PERIOD},      {"[", GLFW_KEY_LEFT_BRACKET},
      {"]", GLFW_KEY_RIGHT_BRACKET}, {"-", GLFW_KEY_MINUS},       {"=", GLFW_KEY_EQUAL},
      {"?", GLFW_KEY_SLASH},         {"/", GLFW_KEY_SLASH},       {"Backspace", GLFW_KEY_BACKSPACE},
  };
  for (const auto& [name, code] : kNamed) {
    if (name == key) return code;
  }
  if (key.size() == 1 && key[0] >= 'A' && key[0] <= 'Z') return GLFW_KEY_A + (key[0] - 'A');
  if (key.size() == 1 && key[0] >= '0' && key[0] <= '9') return GLFW_KEY_0 + (key[0] - '0');
  if (key.size() >= 2 && key[0] == 'F' && key[1] >= '1' && key[1] <= '9') {
    int n = 0;
    for (const char c : key.substr(1)) n = n * 10 + (c - '0');
    return n >= 1 && n <= 12 ? GLFW_KEY_F1 + n - 1 : -1;
  }
  return -1;
}

bool key_pressed(std::string_view combination) {
  const ImGuiIO& io = ImGui::GetIO();
  const std::string_view whole = combination;
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  for (size_t plus = combination.find('+');
       plus != std::string_view::npos && plus + 1 < combination.size();
       plus = combination.find('+')) {
    const std::string_view modifier = combination.substr(0, plus);
    ctrl = ctrl || modifier == "Ctrl";
    shift = shift || modifier == "Shift";
    alt = alt || modifier == "Alt";
    combination.remove_prefix(plus + 1);
  }
  if (combination == "?") shift = true;
  const int code = key_code(combination);
  if (code < 0 || io.KeyCtrl != ctrl || io.KeyShift != shift || io.KeyAlt != alt) return false;
  return ImGui::IsKeyPressed(static_cast<ImGuiKey>(code), repeats(whole));
}

}  // namespace hostir::gui
