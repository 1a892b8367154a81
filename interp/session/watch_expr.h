// Watch expressions: a tensor, a part of it, or a number computed from that part.
//
// `%y`, `%y[2, 0:3]`, `%y.max`, `%y[0, :].sum`. Names and slices are those of the `print` command.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"
#include "interp/session/command.h"

namespace hostir::interp {

struct WatchExpr {
  enum class Reduce : uint8_t { kNone, kMin, kMax, kMean, kSum, kNan, kInf };
  std::string value;  // without '%'
  std::vector<SliceRange> slice;
  Reduce reduce = Reduce::kNone;
};

/// Errors are kUsage and say what was expected.
Expected<WatchExpr> parse_watch(std::string_view text);

/// The text of a cell: the number, the elements if they are few, else their range.
std::string watch_text(const WatchExpr& expr, const Tensor& tensor);

}  // namespace hostir::interp
