// The text of a log point: words and what is asked at each hit, `rank {rank}: {max(%y)}`.
//
// Between braces stands whatever a condition may hold; `{{` and `}}` are braces. What can not be
// answered at a hit (an element that the rank does not hold) is written as the reason, in angle
// brackets. Tensors are as the host sees them then: before an instruction, what its stream has not
// written yet is not there; at `write %y` it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/core/code.h"
#include "interp/session/predicate.h"

namespace hostir::interp {

struct LogText {
  struct Piece {
    std::string words;
    std::optional<Predicate> asked;  // behind the words
  };
  std::vector<Piece> pieces;
};

/// Errors are kUsage: the text, a caret and what would be right there.
Expected<LogText> parse_log_text(std::string_view text);
/// The first name that no instruction of this program could answer; as check_names.
Expected<void> check_names(const LogText& text, const Code& code);
std::string fill(const LogText& text, const PredicateLookup& lookup);

}  // namespace hostir::interp
