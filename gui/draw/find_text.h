// Find in a panel's text (Ctrl+F): a line with the words to find, and their occurrences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/files/text_mark.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// Every occurrence of `words` in the text, in order, ignoring case; none if `words` is empty.
std::vector<TextMark> find_all(std::string_view text, std::string_view words);

class FindText {
 public:
  /// Draws the line if it is open, or opens it if the user asked for it in this panel
  /// (Model::find_wish). `name` is the prefix of its widget names. Returns the place to scroll to
  /// when it changes.
  std::optional<TextMark> draw(Frame& frame, const std::string& name, std::string_view text);
  /// Empty while the line is closed.
  const std::vector<TextMark>& found() const { return found_; }
  /// The current place; null if there is none.
  const TextMark* current() const { return found_.empty() ? nullptr : &found_[at_]; }

 private:
  bool search(std::string_view text);

  bool open_ = false;
  bool focus_ = false;
  std::string words_;
  std::string of_text_;  // the text and words of `found_`
  std::string of_words_;
  std::vector<TextMark> found_;
  size_t at_ = 0;
};

}  // namespace hostir::gui
