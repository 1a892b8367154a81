// A modal dialog: a text and buttons, drawn over the window. Enter chooses the first button, Escape
// the last, which must change nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/draw/ui.h"

namespace hostir::gui {

struct DialogButton {
  std::string name;  // of its widget, after "ask/"
  std::string label;
  std::function<void()> act;  // may be empty
};

struct DialogRequest {
  std::string title;
  std::string text;
  std::vector<DialogButton> buttons;
};

class ModalDialog {
 public:
  /// Opens the dialog; replaces one that is open.
  void open(DialogRequest request);
  bool is_open() const { return request_.has_value(); }
  void draw(Ui& ui);

 private:
  std::optional<DialogRequest> request_;
  bool opened_ = false;
};

}  // namespace hostir::gui
