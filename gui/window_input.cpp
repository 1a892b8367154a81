#include "gui/window_input.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>
#include <set>

namespace hostir::gui {

namespace {

// GLFW's callbacks know the window only; there is one.
WindowInput* installed = nullptr;

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

}  // namespace

std::vector<KeyEvent> KeyQueue::next_frame() {
  std::vector<KeyEvent> frame;
  std::set<int> touched;
  bool pressed = false;  // a key that is no modifier
  while (!events_.empty()) {
    const KeyEvent event = events_.front();
    const bool modifier = is_modifier(event.key);
    if (!touched.insert(event.key).second || (modifier && pressed)) break;
    pressed = pressed || (!modifier && event.action == GLFW_PRESS);
    frame.push_back(event);
    events_.pop_front();
  }
  return frame;
}

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  installed = this;
  glfwSetKeyCallback(window, &WindowInput::on_key);
}

WindowInput::~WindowInput() {
  glfwSetKeyCallback(window_, nullptr);
  installed = nullptr;
}

void WindowInput::on_key(GLFWwindow*, int key, int scancode, int action, int mods) {
  if (installed) installed->keys_.push({key, scancode, action, mods});
}

void WindowInput::next_frame() {
  for (const KeyEvent& k : keys_.next_frame())
    ImGui_ImplGlfw_KeyCallback(window_, k.key, k.scancode, k.action, k.mods);
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
