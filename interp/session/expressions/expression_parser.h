// Parses an expression inside a longer line: `break %y if COND on rank 3`.
#pragma once

#include "interp/session/commands/scanner.h"
#include "interp/session/expressions/expression.h"

namespace hostir::interp {

struct ExpressionOperator {
  Expression::Kind kind;
  std::string_view symbol;
  std::string_view word;  // alternative spelling; may be empty
  int precedence;         // higher binds tighter
};
/// Precedences of the groups; an operand has kOperand.
inline constexpr int kNotPrecedence = 3;
inline constexpr int kComparison = 4;  // does not chain
inline constexpr int kSum = 5;
inline constexpr int kOperand = 8;
/// A symbol precedes its prefixes.
std::span<const ExpressionOperator> expression_operators();

/// Reads the longest expression and leaves the scanner after it.
Expected<Expression> parse_expression(Scanner& scanner);
/// Reads `[2, 0:3, :]` as a kElement without a name. Errors as for expressions.
Expected<Expression> parse_slice(Scanner& scanner);

}  // namespace hostir::interp
