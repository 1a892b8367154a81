// The window without a window: an ImGui context fed by hand, for tests and for checks under
// sanitizers.
//
// Input is given by widget name. Nothing is rendered; draw lists can be looked at after `step()`.
#pragma once

#include <memory>
#include <string>

#include "gui/app.h"

struct ImGuiContext;

namespace hostir::gui {

class Headless {
 public:
  Headless(interp::SessionFactory& factory, AppOptions options, int width, int height);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  App& app() { return *app_; }
  /// One frame.
  void step();
  /// Frames until the worker has nothing left to do; false after `seconds`.
  bool settle(double seconds = 10);
  void resize(int width, int height);

  // ---- input, by name; false where no such widget was drawn in the last frame
  bool click(const std::string& name, int button = 0);
  bool hover(const std::string& name);
  bool has(const std::string& name) const;
  std::string text(const std::string& name) const;
  /// "F10", "Shift+F10".
  bool press(const std::string& keys);
  void type(const std::string& text);
  /// Clicks a text field, replaces what is in it, and presses `end` (a key; empty: none).
  bool fill(const std::string& name, const std::string& text, const std::string& end = "Enter");
  /// Presses the left button on one widget and lets it go on another.
  bool drag(const std::string& from, const std::string& to);
  /// The wheel over a widget; positive: up.
  bool scroll(const std::string& name, float lines);
  /// Vertices of the last frame.
  int vertex_count() const { return vertices_; }
  /// Of them, those inside one panel; 0: it is not shown.
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
