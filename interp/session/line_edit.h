// Editing a text by whole lines, and what an edit changed.
//
// Lines are counted from 0 here, as indices; a diff counts from 1, as editors do. An edit names the
// lines of the text that it was made for, so several parts of one edit never shift each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hostir::interp {

/// Lines of a text, the last one included.
struct LineRange {
  size_t first = 0;
  size_t last = 0;
  size_t count() const { return last - first + 1; }
};

/// A text that ends with a newline has an empty last line, so that joining gives it back.
std::vector<std::string> split_lines(std::string_view text);

class LineEdit {
 public:
  static constexpr size_t kNewLine = static_cast<size_t>(-1);
  explicit LineEdit(std::vector<std::string> lines);

  LineEdit& erase(LineRange range);
  LineEdit& replace(size_t line, std::string with);
  /// `before` may be the number of lines. Of several at one place the first stands first.
  LineEdit& insert(size_t before, const std::vector<std::string>& lines);
  /// `columns` to the right, or to the left where negative; empty lines stay empty.
  LineEdit& indent(LineRange range, int columns);
  LineEdit& move(LineRange range, size_t before, int columns);
  std::vector<std::string> lines_of(LineRange range, int columns) const;
  std::string text() const;
  /// Of each line of `text()`: the line that it was, also where it was changed or moved; kNewLine.
  std::vector<size_t> origins() const;

 private:
  struct Added {
    std::string text;
    size_t origin = kNewLine;
  };
  struct Line {
    std::string text;
    std::vector<Added> before;
    bool erased = false;
  };
  std::vector<Added>& place(size_t before);
  std::vector<Line> lines_;
  std::vector<Added> behind_;  // after the last line
};

struct DiffLine {
  enum class Kind : uint8_t { kSame, kRemoved, kAdded } kind = Kind::kSame;
  size_t number = 0;  // 1-based; of a removed line in the old text, else in the new one
  std::string text;
  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The lines that differ, with `context` lines around them. Where the middle of both texts is long
/// (above 3,000 lines) all of it counts as changed.
std::vector<DiffLine> line_diff(std::string_view before, std::string_view after, size_t context);

/// How many lines a person would have to touch: one that is replaced counts once, one that only
/// moves to the right or left not at all.
size_t edit_size(std::string_view before, std::string_view after);

}  // namespace hostir::interp
