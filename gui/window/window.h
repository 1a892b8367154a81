// The real window: GLFW and OpenGL 3.3. Draws when something happens and sleeps otherwise.
#pragma once

#include <string>

#include "gui/app/app.h"

namespace hostir::gui {

struct WindowOptions {
  int width = 1600;
  int height = 1000;
  /// Steps of a script, one per line (gui/window/script.h); the window closes after the last.
  /// Empty: interactive.
  std::string script;
  std::string screenshot;  // PNG file to write at the end; empty: none
};

/// Runs until the window is closed. Errors: no display, no OpenGL 3.3, script steps that fail.
Expected<void> run_window(interp::SessionFactory& factory, AppOptions app,
                          const WindowOptions& options);

}  // namespace hostir::gui
