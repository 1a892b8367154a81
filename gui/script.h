// Driving the window from text: one step per line.
//
//   key Shift+F10              press and release
//   click toolbar/next         a widget by name; `rclick` the other button; `hover NAME`
//   type TEXT                  characters into the focused field
//   wait                       until nothing is running any more
//   frames N
//   screenshot FILE            a PNG
//   match FILE FOLDER          the window looks like this PNG (`why_not_same` of gui/png.h); else
//   the
//                              picture and what differs go to FOLDER
//   expect NAME CONTAINS...    the widget exists and its text holds the rest
//   resize is not a step: give --size
//   anything else              an action by name, or a line of the command language
//
// Empty lines and lines that begin with # do nothing. Every step waits until the window has
// settled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gui/app.h"
#include "gui/png.h"

namespace hostir::gui {

/// Input that one frame sees.
struct ScriptInput {
  std::function<void()> apply;
};

class Script {
 public:
  explicit Script(std::string text) : text_(std::move(text)) {}

  /// `frame` draws one frame with the input or nullptr; `grab` gives the picture of the last frame.
  /// Errors name the line.
  Expected<void> run(App& app, const std::function<void(const ScriptInput*)>& frame,
                     const std::function<Image()>& grab);

 private:
  std::string text_;
};

}  // namespace hostir::gui
