#include "gui/window_input.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <set>

namespace hostir::gui {

namespace {

// GLFW callbacks get only the window; there is just one WindowInput.
WindowInput* installed = nullptr;

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

}  // namespace

std::vector<KeyEvent> KeyQueue::next_frame(Typing typing) {
  std::vector<KeyEvent> frame;
  std::set<int> touched;
  bool pressed = false;  // a non-modifier key was pressed
  bool silent = false;   // a key without a letter was pressed: a field handles it after all letters
  bool just_down = false;  // the previous event was a press
  for (; !events_.empty(); events_.pop_front()) {
    const KeyEvent event = events_.front();
    if (event.letter != 0) {
      if (silent && !just_down) break;
      silent = just_down = false;
      frame.push_back(event);
      continue;
    }
    const bool modifier = is_modifier(event.key);
    const bool press = !modifier && event.action != GLFW_RELEASE;
    const bool types = press && events_.size() > 1 && events_[1].letter != 0;
    if (press && silent) break;
    just_down = press;
    if (types && typing == Typing::kYes) continue;  // a field needs only its letter
    if (touched.contains(event.key) || (modifier && pressed) || (press && pressed)) break;
    touched.insert(event.key);
    pressed = pressed || press;
    silent = silent || press;
    frame.push_back(event);
  }
  return frame;
}

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  installed = this;
  glfwSetKeyCallback(window, &WindowInput::on_key);
  glfwSetCharCallback(window, &WindowInput::on_letter);
}

WindowInput::~WindowInput() {
  glfwSetKeyCallback(window_, nullptr);
  glfwSetCharCallback(window_, nullptr);
  installed = nullptr;
}

void WindowInput::on_key(GLFWwindow*, int key, int scancode, int action, int mods) {
  if (installed) installed->keys_.push({key, scancode, action, mods});
}

void WindowInput::on_letter(GLFWwindow*, unsigned letter) {
  if (installed) installed->keys_.push({0, 0, 0, 0, letter});
}

void WindowInput::next_frame() {
  const bool typing = ImGui::GetIO().WantTextInput;
  for (const KeyEvent& k : keys_.next_frame(typing ? Typing::kYes : Typing::kNo)) {
    if (k.letter != 0)
      ImGui_ImplGlfw_CharCallback(window_, k.letter);
    else
      ImGui_ImplGlfw_KeyCallback(window_, k.key, k.scancode, k.action, k.mods);
  }
}

bool WindowInput::changed() {
  const ImGuiIO& io = ImGui::GetIO();
  State now;
  now.mouse_x = io.MousePos.x;
  now.mouse_y = io.MousePos.y;
  now.wheel = io.MouseWheel;
  std::copy(std::begin(io.MouseDown), std::end(io.MouseDown), now.buttons.begin());
  std::copy_n(std::begin(io.KeysDown), now.keys.size(), now.keys.begin());
  const bool differs = !(now == seen_);
  seen_ = now;
  return differs;
}

}  // namespace hostir::gui
