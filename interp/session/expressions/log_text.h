// The text of a log point: words and expressions evaluated at each hit, `rank {rank}: {max(%y)}`.
//
// Braces contain any expression allowed in a condition; `{{` and `}}` are literal braces. If an
// expression cannot be evaluated at a hit (an element that the rank does not hold), the reason is
// written in angle brackets. Tensors are as the host sees them at that point: before an
// instruction, pending writes of its stream are not visible; at `write %y` the write is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/session/expressions/expression.h"

namespace hostir::interp {

struct LogText {
  struct Piece {
    std::string words;
    std::optional<Expression> asked;  // expression after the words
  };
  std::vector<Piece> pieces;
};

/// Errors are kUsage: the text, a caret and what was expected.
Expected<LogText> parse_log_text(std::string_view text);
/// Reports the first name that no instruction of this program can provide, like check_condition.
Expected<void> check_names(const LogText& text, const Code& code);
std::string fill(const LogText& text, const ExpressionLookup& lookup);

}  // namespace hostir::interp
