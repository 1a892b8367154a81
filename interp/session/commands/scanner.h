// Scans one typed line: words, numbers, symbols, and errors with a caret under the line.
//
// Shared by expressions and commands. It does not copy the line; a scanner is a position in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::interp {

class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  void skip_blanks();
  bool at_end();  // after skipping blanks
  size_t position() const { return position_; }
  void rewind(size_t position) { position_ = position; }
  std::string_view line() const { return line_; }
  /// The rest of the line, trimmed.
  std::string_view rest();

  /// The next character after blanks, or 0.
  char peek();
  /// Consumes `token` if it comes next. A word must end there: `on` does not match `only`.
  bool take(std::string_view token);
  /// `[A-Za-z_][A-Za-z0-9_.]*`; empty if there is none here. Dots only if `dots` allows them.
  std::string_view word();
  std::string_view dotted_word();
  /// As dotted_word(), but may begin with a digit: the name after a '%', as in `%20` or `%20.max`.
  std::string_view value_word();
  std::optional<int64_t> integer();     // with sign; nullopt also if it does not fit
  std::optional<std::string> quoted();  // `"..."` with \" and backslash escapes

  /// kUsage: the message, then the line and a caret at `position` (default: here).
  tl::unexpected<Error> error(std::string_view message) const { return error(message, position_); }
  tl::unexpected<Error> error(std::string_view message, size_t position) const;

 private:
  std::string_view dotted_run();  // from here

  std::string_view line_;
  size_t position_ = 0;
};

}  // namespace hostir::interp
