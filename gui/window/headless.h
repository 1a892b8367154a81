// The application without a real window: an ImGui context driven by code, for tests and sanitizer
// runs.
//
// Input is given by widget name. Nothing is rendered; draw lists can be inspected after `step()`.
#pragma once

#include <memory>
#include <string>

#include "gui/app/app.h"

struct ImGuiContext;

namespace hostir::gui {

class Headless {
 public:
  Headless(interp::SessionFactory& factory, AppOptions options, int width, int height);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  App& app() { return *app_; }
  /// Draws one frame.
  void step();
  /// Draws frames until the worker is idle; false if that takes longer than `seconds`.
  bool wait_until_idle(double seconds = 10);
  void resize(int width, int height);

  // ---- input by widget name; false if no such widget was drawn in the last frame
  bool click(const std::string& name, int button = 0);
  bool hover(const std::string& name);
  bool has(const std::string& name) const;
  std::string text(const std::string& name) const;
  /// Presses a key combination: "F10", "Shift+F10".
  bool press(const std::string& keys);
  void type(const std::string& text);
  /// Clicks a text field, replaces its contents, and presses the key `end` (empty: none).
  bool fill(const std::string& name, const std::string& text, const std::string& end = "Enter");
  /// Drags from one widget to another with the left button.
  bool drag(const std::string& from, const std::string& to);
  /// Turns the wheel over a widget; positive is up.
  bool scroll(const std::string& name, float lines);
  /// Number of vertices in the last frame.
  int vertex_count() const { return vertices_; }
  /// Vertices inside one panel; 0 if it is not shown.
  int vertex_count(const std::string& panel) const;
  double cpu_ms() const { return cpu_ms_; }

 private:
  ImGuiContext* context_;
  std::unique_ptr<App> app_;
  double now_s_ = 0;
  int vertices_ = 0;
  double cpu_ms_ = 0;
};

}  // namespace hostir::gui
