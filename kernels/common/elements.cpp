#include "kernels/common/elements.h"

#include <array>
#include <limits>

namespace hostir::kernels {

Extents strides_of(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (size_t d = extents.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * extents[d - 1];
  return strides;
}

int64_t global_linear_index(const Extents& global, std::span<const int64_t> index) {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear = linear * global[d] + index[d];
  return linear;
}

std::optional<int64_t> bound_value(const IndexExpr& expr, const SizeBindings& sizes) {
  const Expected<int64_t> value = expr.evaluate(sizes.lookup());
  if (!value) return std::nullopt;
  return *value;
}

double real_identity(Reduction kind) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 5> kIdentities = {0, 0, 1, kInf, -kInf};
  return kIdentities[static_cast<size_t>(kind)];
}

int64_t int_identity(Reduction kind, DType dtype) {
  if (kind != Reduction::kMin && kind != Reduction::kMax) return kind == Reduction::kProd;
  const bool smallest = kind == Reduction::kMax;
  switch (dtype) {
    case DType::kI1:
      return smallest ? 0 : 1;
    case DType::kU8:
      return smallest ? 0 : 255;
    case DType::kI8:
      return smallest ? INT8_MIN : INT8_MAX;
    case DType::kI32:
      return smallest ? INT32_MIN : INT32_MAX;
    default:
      return smallest ? INT64_MIN : INT64_MAX;
  }
}

}  // namespace hostir::kernels
