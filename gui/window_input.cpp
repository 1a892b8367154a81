#include "gui/window_input.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <imgui.h>

#include <algorithm>

namespace hostir::gui {

namespace {

// GLFW's callbacks know the window only; there is one.
WindowInput* installed = nullptr;

}  // namespace

WindowInput::WindowInput(GLFWwindow* window) : window_(window) {
  installed = this;
  glfwSetKeyCallback(window, &WindowInput::on_key);
}

WindowInput::~WindowInput() {
  glfwSetKeyCallback(window_, nullptr);
  installed = nullptr;
}

void WindowInput::on_key(GLFWwindow*, int key, int scancode, int action, int mods) {
  if (installed) installed->keys_.push_back({key, scancode, action, mods});
}

void WindowInput::next_frame() {
  std::set<int> touched;
  while (!keys_.empty() && touched.insert(keys_.front().key).second) {
    const Key k = keys_.front();
    keys_.pop_front();
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
