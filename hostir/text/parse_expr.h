// Index expressions and tensor shapes.
//
// expr    := or of and of comparison of sum of product of unary, as in C; comparisons do not chain
// primary := integer | ?NAME | %name | rank | coord(axis) | size(axis) | min(e, e) | max(e, e) |
// (e)
// `-e` of anything but a literal is `0 - e`.
#pragma once

#include <optional>

#include "hostir/text/cursor.h"

namespace hostir::text {

std::optional<IndexExpr> parse_expr(Cursor& cursor);
/// True where an expression may start here.
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
