// Index expressions and tensor shapes.
//
// Precedence is as in C, from loosest to tightest: or, and, comparison, sum, product, unary.
// Comparisons do not chain. The primaries are
//   integer  ?NAME  %name  rank  coord(axis)  size(axis)  min(e, e)  max(e, e)  (e)
// `-e` is `0 - e` unless e is a literal.
#pragma once

#include <optional>

#include "hostir/text/parse/cursor.h"

namespace hostir::text {

std::optional<IndexExpr> parse_expr(Cursor& cursor);
/// True if an expression may start with this token.
bool starts_expr(const Token& token);
/// `a, b, c`: at least one.
std::optional<ExprList> parse_expr_list(Cursor& cursor);

struct ShapeAndDType {
  Shape shape;
  DType dtype = DType::kF32;
};
/// `16x?Bx(?B*?S)xf32` or a bare dtype.
std::optional<ShapeAndDType> parse_shape(Cursor& cursor, const SourceManager& sources);

}  // namespace hostir::text
