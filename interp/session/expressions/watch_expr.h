// Numbers of tensors in expressions, and watches: expressions of one tensor, shown rank by rank.
//
// A watch is a tensor, a part of it, or anything computed from that part: `%y`, `%y[2, 0:3]`,
// `%y.max` (short for `max(%y)`), `max(%y[0, :]) - min(%y[0, :])`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/session/expressions/expression.h"

namespace hostir::interp {

struct WatchExpr {
  std::string value;              // the tensor, without '%'
  std::vector<SliceRange> slice;  // the part of it that is read
  Expression expression;
};

/// Errors are kUsage and say what was expected.
Expected<WatchExpr> parse_watch(std::string_view text);

/// The text of a cell: the number, the elements if they are few, else their range. `tensor` is the
/// part that was read.
std::string watch_text(const WatchExpr& expr, const Tensor& tensor);

/// `min`, `max`, `mean`, `sum`, `nan` (how many), `inf`; nullopt for other functions. A tensor of
/// NaNs has the minimum NaN.
std::optional<ExpressionValue> statistic(std::string_view function, const Tensor& tensor);
bool is_statistic(std::string_view function);

/// The element of a tensor of one element. Errors: `condition`.
Expected<ExpressionValue> element_number(const Tensor& tensor);

}  // namespace hostir::interp
