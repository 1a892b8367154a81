#include "gui/window/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <memory>
#include <optional>

#include "gui/files/png.h"
#include "gui/window/end_signals.h"
#include "gui/window/script.h"
#include "gui/window/window_input.h"

namespace hostir::gui {

namespace {

struct GlfwGuard {
  ~GlfwGuard() { glfwTerminate(); }
};
struct DestroyWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
struct ImGuiGuard {
  ~ImGuiGuard() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
};

tl::unexpected<Error> window_error(const char* what) {
  const char* why = nullptr;
  glfwGetError(&why);
  return fail(ErrorKind::kRuntime, "window",
              std::string(what) + (why ? std::string(": ") + why : "") +
                  "; `hostir debug` does the same in a terminal");
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
  auto* app = static_cast<App*>(glfwGetWindowUserPointer(window));
  if (app && count > 0) app->drop_file(paths[0]);
}

/// Draws frames and measures them.
class WindowPainter {
 public:
  WindowPainter(GLFWwindow* window, App& app) : window_(window), app_(app) {}

  void paint(const ScriptInput* input) {
    if (app_.needs_style()) {
      app_.rebuild_style();
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (input) input->apply();  // after the back end, which ignores the mouse if unfocused
    ImGui::NewFrame();
    app_.frame(glfwGetTime());
    ImGui::Render();
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    glViewport(0, 0, width, height);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    if (const auto wish = app_.take_screenshot_request()) {
      const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
      app_.wrote(wish->path,
                 write_png(wish->path, grab().part(wish->min.x * scale.x, wish->min.y * scale.y,
                                                   wish->max.x * scale.x, wish->max.y * scale.y)));
    }
    if (title_ != app_.window_title()) {
      title_ = app_.window_title();
      glfwSetWindowTitle(window_, title_.c_str());
    }
  }

  Image grab() const {
    Image image;
    glfwGetFramebufferSize(window_, &image.width, &image.height);
    image.rgb.resize(static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, image.width, image.height, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
    image.flip_rows();
    return image;
  }

 private:
  GLFWwindow* window_;
  App& app_;
  std::string title_;
};

// Sleeps until an event arrives or the open file, checked periodically, changes or is deleted.
void sleep(App& app) {
  constexpr double kLookS = 2;
  app.write_what_changed();
  while (true) {
    const double before = glfwGetTime();
    glfwWaitEventsTimeout(kLookS);
    if (glfwGetTime() - before < kLookS * 0.99 || app.file_has_news()) return;
  }
}

void run_interactive(GLFWwindow* window, App& app, WindowPainter& painter,
                     const EndSignals& signals) {
  // Draw a few frames after each event, so that hover and popups settle, then sleep until the next
  // one. An event during these frames starts the count again.
  constexpr int kSettlingFrames = 3;
  WindowInput input(window);
  int frames_left = kSettlingFrames;
  double input_s = glfwGetTime();  // of the last event
  while (!app.wants_quit() && !signals.came()) {
    if (glfwWindowShouldClose(window)) {
      glfwSetWindowShouldClose(window, GLFW_FALSE);
      app.request_quit();
      frames_left = kSettlingFrames;
      if (app.wants_quit()) break;
    }
    if (frames_left > 0 || input.waits() || app.wants_frame()) {
      // While a large log is read in the background, or an answer takes long, draw few frames: the
      // work needs the CPU. Input and the answer end the wait.
      constexpr double kLongS = 0.5;
      if (frames_left > 0) input_s = glfwGetTime();
      const bool reading = frames_left <= 0 && app.model().worker().log_progress().reading;
      const bool takes_long = glfwGetTime() - input_s > kLongS;
      glfwWaitEventsTimeout(reading ? 0.2 : takes_long ? 0.1 : 1.0 / 60);
      --frames_left;
    } else {
      sleep(app);
      frames_left = kSettlingFrames;
    }
    input.next_frame();
    const ScriptInput mouse{[&input] { input.show_mouse(); }};
    painter.paint(&mouse);
    glfwSwapBuffers(window);
    if (input.changed()) frames_left = kSettlingFrames;
  }
}

Expected<void> run_script(GLFWwindow* window, App& app, WindowPainter& painter,
                          const WindowOptions& options) {
  Script script(options.script);
  const auto frame = [&](const ScriptInput* input) {
    glfwPollEvents();
    painter.paint(input);
    glFinish();  // a frame that is not swapped would keep its memory until the last one
  };
  HOSTIR_TRY(script.run(app, frame, [&] { return painter.grab(); }));
  glfwSwapBuffers(window);
  if (!options.screenshot.empty()) HOSTIR_TRY(write_png(options.screenshot, painter.grab()));
  return {};
}

}  // namespace

Expected<void> run_window(interp::SessionFactory& factory, AppOptions app_options,
                          const WindowOptions& options) {
  const bool scripted = !options.script.empty() || !options.screenshot.empty();
  std::optional<EndSignals> signals;  // before the OpenGL driver starts its threads
  if (!scripted) signals.emplace([] { glfwPostEmptyEvent(); });
  if (!glfwInit()) return window_error("no window system");
  const GlfwGuard glfw;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  if (scripted) glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  const std::unique_ptr<GLFWwindow, DestroyWindow> window(
      glfwCreateWindow(options.width, options.height, "Host-IR Workbench", nullptr, nullptr));
  if (!window) return window_error("no OpenGL 3.3 window");
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(scripted ? 0 : 1);
  float scale = 1;
  glfwGetWindowContentScale(window.get(), &scale, nullptr);
  app_options.screen_scale = scripted ? 1 : scale;
  app_options.fixed_clock = scripted;
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window.get(), true);
  ImGui_ImplOpenGL3_Init("#version 330 core");
  const ImGuiGuard imgui;
  App app(factory, std::move(app_options), [] { glfwPostEmptyEvent(); });
  glfwSetWindowUserPointer(window.get(), &app);
  glfwSetDropCallback(window.get(), on_drop);
  WindowPainter painter(window.get(), app);
  if (scripted) return run_script(window.get(), app, painter, options);
  run_interactive(window.get(), app, painter, *signals);
  app.write_what_changed();  // before teardown, which may take a while
  return {};
}

}  // namespace hostir::gui
