// A question that has to be answered before anything else: its text and the answers, drawn over the
// window. Enter takes the first answer, Escape the last, which changes nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/ui.h"

namespace hostir::gui {

struct Answer {
  std::string name;  // of its button, after "ask/"
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
  /// One at a time: a question that is asked while another waits takes its place.
  void ask(Question question);
  bool waits() const { return question_.has_value(); }
  void draw(Ui& ui);

 private:
  std::optional<Question> question_;
  bool opened_ = false;
};

}  // namespace hostir::gui
