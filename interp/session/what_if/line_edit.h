// Edits a text by whole lines, and computes what an edit changed.
//
// Line indices are 0-based; diff line numbers are 1-based, as in editors. Edits refer to line
// numbers of the original text, so that the parts of one edit do not shift each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hostir::interp {

/// An inclusive range of lines.
struct LineRange {
  size_t first = 0;
  size_t last = 0;
  size_t count() const { return last - first + 1; }
};

/// If the text ends with a newline, the last line is empty, so that joining restores the text.
std::vector<std::string> split_lines(std::string_view text);

class LineEdit {
 public:
  static constexpr size_t kNewLine = static_cast<size_t>(-1);
  explicit LineEdit(std::vector<std::string> lines);

  LineEdit& erase(LineRange range);
  LineEdit& replace(size_t line, std::string with);
  /// `before` may equal the number of lines. Several insertions at one place keep their order.
  LineEdit& insert(size_t before, const std::vector<std::string>& lines);
  /// Shifts by `columns` to the right, or to the left if negative; empty lines stay empty.
  LineEdit& indent(LineRange range, int columns);
  LineEdit& move(LineRange range, size_t before, int columns);
  std::vector<std::string> lines_of(LineRange range, int columns) const;
  std::string text() const;
  /// For each line of `text()`, the original line, even if changed or moved; kNewLine for new
  /// lines.
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
  std::vector<Added> at_end_;  // after the last line
};

struct DiffLine {
  enum class Kind : uint8_t { kSame, kRemoved, kAdded } kind = Kind::kSame;
  size_t number = 0;  // 1-based; for a removed line in the old text, else in the new one
  std::string text;
  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The lines that differ, with `context` lines around them. If the middle of both texts is longer
/// than 3,000 lines, all of it counts as changed.
std::vector<DiffLine> line_diff(std::string_view before, std::string_view after, size_t context);

/// The number of lines to touch by hand: a replaced line counts once, a line that is only
/// re-indented does not count.
size_t edit_size(std::string_view before, std::string_view after);

/// True if `larger` is `smaller` with more written in: it makes every change of `smaller` and then
/// adds or replaces words. An edit that only removes more is another edit (leaving a call out is
/// not contained in removing the condition around it). Compares words, not blanks.
bool contains_edit(std::string_view before, std::string_view smaller, std::string_view larger);

}  // namespace hostir::interp
