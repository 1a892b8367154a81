#include "gui/window/window_input.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <set>

#include "hostir/support/lists.h"

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

MouseFrame MouseQueue::next_frame(float x, float y) {
  if (events_.empty()) {
    shown_.x = x;
    shown_.y = y;
    return shown_;
  }
  const MouseEvent event = events_.front();
  const bool moved = event.x != shown_.x || event.y != shown_.y;
  const bool drags = contains(shown_.down, true);
  shown_.x = event.x;
  shown_.y = event.y;
  if (event.down && moved && !drags) return shown_;
  events_.pop_front();
  shown_.down[static_cast<size_t>(event.button)] = event.down;
  return shown_;
}

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  installed = this;
  glfwSetKeyCallback(window, &WindowInput::on_key);
  glfwSetCharCallback(window, &WindowInput::on_letter);
  glfwSetMouseButtonCallback(window, &WindowInput::on_button);
}

WindowInput::~WindowInput() {
  glfwSetKeyCallback(window_, nullptr);
  glfwSetCharCallback(window_, nullptr);
  glfwSetMouseButtonCallback(window_, nullptr);
  installed = nullptr;
}

void WindowInput::on_key(GLFWwindow*, int key, int scancode, int action, int mods) {
  if (installed) installed->keys_.push({key, scancode, action, mods});
}

void WindowInput::on_letter(GLFWwindow*, unsigned letter) {
  if (installed) installed->keys_.push({0, 0, 0, 0, letter});
}

void WindowInput::on_button(GLFWwindow* window, int button, int action, int) {
  if (!installed || button < 0 || button >= static_cast<int>(MouseFrame().down.size())) return;
  double x = 0;
  double y = 0;
  glfwGetCursorPos(window, &x, &y);
  installed->mouse_.push(
      {static_cast<float>(x), static_cast<float>(y), button, action == GLFW_PRESS});
}

void WindowInput::show_mouse() {
  ImGuiIO& io = ImGui::GetIO();
  const bool queued = !mouse_.empty();
  const MouseFrame frame = mouse_.next_frame(io.MousePos.x, io.MousePos.y);
  if (queued) io.MousePos = ImVec2(frame.x, frame.y);
  std::copy(frame.down.begin(), frame.down.end(), std::begin(io.MouseDown));
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
