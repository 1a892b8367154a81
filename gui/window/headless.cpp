#include "gui/window/headless.h"

#include <imgui_internal.h>

#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

namespace hostir::gui {

namespace {

constexpr double kFrameSeconds = 1.0 / 60;

// Sets the io flags for Ctrl+, Shift+ and Alt+ and returns the code of the remaining key, -1 if
// unknown.
int apply_modifiers(std::string_view combination, ImGuiIO& io) {
  for (size_t plus = combination.find('+');
       plus != std::string_view::npos && plus + 1 < combination.size();
       plus = combination.find('+')) {
    const std::string_view modifier = combination.substr(0, plus);
    if (modifier == "Ctrl") io.KeyCtrl = true;
    if (modifier == "Shift") io.KeyShift = true;
    if (modifier == "Alt") io.KeyAlt = true;
    combination.remove_prefix(plus + 1);
  }
  if (combination == "?") io.KeyShift = true;
  return key_code(combination);
}

// Key map for ImGui's own widgets (text fields, popups), as the GLFW back end sets it.
void map_keys(ImGuiIO& io) {
  constexpr std::pair<int, std::string_view> kKeys[] = {{ImGuiKey_Tab, "Tab"},
                                                        {ImGuiKey_LeftArrow, "Left"},
                                                        {ImGuiKey_RightArrow, "Right"},
                                                        {ImGuiKey_UpArrow, "Up"},
                                                        {ImGuiKey_DownArrow, "Down"},
                                                        {ImGuiKey_Home, "Home"},
                                                        {ImGuiKey_End, "End"},
                                                        {ImGuiKey_Delete, "Delete"},
                                                        {ImGuiKey_Backspace, "Backspace"},
                                                        {ImGuiKey_Space, "Space"},
                                                        {ImGuiKey_Enter, "Enter"},
                                                        {ImGuiKey_Escape, "Esc"},
                                                        {ImGuiKey_A, "A"},
                                                        {ImGuiKey_C, "C"},
                                                        {ImGuiKey_V, "V"},
                                                        {ImGuiKey_X, "X"},
                                                        {ImGuiKey_Y, "Y"},
                                                        {ImGuiKey_Z, "Z"}};
  for (const auto& [key, name] : kKeys) io.KeyMap[key] = key_code(name);
}

}  // namespace

Headless::Headless(interp::SessionFactory& factory, AppOptions options, int width, int height)
    : context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  map_keys(io);
  resize(width, height);
  app_ = std::make_unique<App>(factory, std::move(options), [] {});
}

Headless::~Headless() {
  app_.reset();
  ImGui::DestroyContext(context_);
}

void Headless::resize(int width, int height) {
  ImGui::GetIO().DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
}

void Headless::step() {
  ImGui::SetCurrentContext(context_);
  if (app_->needs_style()) {
    app_->rebuild_style();
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ImGui::GetIO().DeltaTime = static_cast<float>(kFrameSeconds);
  now_s_ += kFrameSeconds;
  const auto begin = std::chrono::steady_clock::now();
  ImGui::NewFrame();
  app_->frame(now_s_);
  ImGui::Render();
  cpu_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  vertices_ = ImGui::GetDrawData()->TotalVtxCount;
}

int Headless::vertex_count(const std::string& panel) const {
  // The tree names a panel's child window `.../PANEL_ID`; ImGui prefixes the names of its children
  // with that.
  const std::string name = "/" + panel + "_";
  int count = 0;
  for (const ImGuiWindow* window : context_->Windows) {
    const bool inside = std::string_view(window->Name).find(name) != std::string_view::npos;
    if (inside && window->Active && !window->Hidden) count += window->DrawList->VtxBuffer.Size;
  }
  return count;
}

bool Headless::wait_until_idle(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  // Like the real window after an event: three frames, and more while they are wanted.
  for (int frames = 3; frames > 0 || app_->wants_frame(); --frames) {
    step();
    if (std::chrono::steady_clock::now() > end) return false;
    if (app_->wants_frame()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool Headless::has(const std::string& name) const { return app_->ui().find(name) != nullptr; }

std::string Headless::text(const std::string& name) const {
  const WidgetRect* rect = app_->ui().find(name);
  return rect ? rect->text : std::string();
}

bool Headless::hover(const std::string& name) {
  const WidgetRect* rect = app_->ui().find(name);
  if (!rect) return false;
  ImGui::GetIO().MousePos =
      ImVec2((rect->min.x + rect->max.x) / 2, (rect->min.y + rect->max.y) / 2);
  step();
  return true;
}

bool Headless::click(const std::string& name, int button) {
  if (!hover(name)) return false;
  ImGui::GetIO().MouseDown[button] = true;
  step();
  ImGui::GetIO().MouseDown[button] = false;
  step();
  step();
  return true;
}

bool Headless::press(const std::string& keys) {
  ImGuiIO& io = ImGui::GetIO();
  const int code = apply_modifiers(keys, io);
  if (code < 0) return false;
  io.KeysDown[code] = true;
  step();
  io.KeysDown[code] = false;
  io.KeyCtrl = io.KeyShift = io.KeyAlt = false;
  step();
  return true;
}

bool Headless::fill(const std::string& name, const std::string& text, const std::string& end) {
  if (!click(name)) return false;
  press("Ctrl+A");
  press("Delete");
  type(text);
  return end.empty() || press(end);
}

bool Headless::drag(const std::string& from, const std::string& to) {
  if (!hover(from)) return false;
  ImGui::GetIO().MouseDown[0] = true;
  step();
  const bool there = hover(to);
  // ImGui accepts a drop target one frame after the pointer is over it.
  step();
  ImGui::GetIO().MouseDown[0] = false;
  step();
  step();
  return there;
}

bool Headless::scroll(const std::string& name, float lines) {
  if (!hover(name)) return false;
  ImGui::GetIO().MouseWheel = lines;
  step();
  step();
  return true;
}

void Headless::type(const std::string& text) {
  ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
  step();
}

}  // namespace hostir::gui
