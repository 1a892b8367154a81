// A modal question: its text and the possible answers, drawn over the window. Enter chooses the
// first answer, Escape the last, which must change nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/ui.h"

namespace hostir::gui {

struct Answer {
  std::string name;  // name of its button, after "ask/"
  std::string label;
  std::function<void()> act;  // may be empty
};

struct Question {
  std::string title;
  std::string text;
  std::vector<Answer> answers;
};

class QuestionBox {
 public:
  /// Shows one question at a time: a new question replaces a waiting one.
  void ask(Question question);
  bool waits() const { return question_.has_value(); }
  void draw(Ui& ui);

 private:
  std::optional<Question> question_;
  bool opened_ = false;
};

}  // namespace hostir::gui
