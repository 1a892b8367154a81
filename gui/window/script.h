// Drives the window from a script: one step per line.
//
//   key Shift+F10              press and release
//   click toolbar/next         click a widget by name; also `rclick NAME`, `hover NAME`
//   type TEXT                  type characters into the focused field
//   wait                       wait until nothing is running
//   frames N                   draw N frames
//   screenshot FILE            write a PNG
//   match FILE FOLDER          compare the window with this PNG (`why_not_same` of
//   gui/files/png.h); on
//                              failure write the picture and the difference to FOLDER
//   expect NAME CONTAINS...    the widget exists and its text contains the rest of the line
//   anything else              an action by name, or a line of the command language
//
// Empty lines and lines that begin with # are ignored. Every step waits until the window has
// settled. The window cannot be resized by a step: use --size.
#pragma once

#include <functional>
#include <string>

#include "gui/app/app.h"
#include "gui/files/png.h"

namespace hostir::gui {

/// Input applied before one frame.
struct ScriptInput {
  std::function<void()> apply;
};

class Script {
 public:
  explicit Script(std::string text) : text_(std::move(text)) {}

  /// `frame` draws one frame with the input or nullptr; `grab` returns the picture of the last
  /// frame. Errors name the line.
  Expected<void> run(App& app, const std::function<void(const ScriptInput*)>& frame,
                     const std::function<Image()>& grab);

 private:
  std::string text_;
};

}  // namespace hostir::gui
