#include "kernels/common/elements.h"

#include <array>

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

std::vector<bool> folded_dims(const Instruction& reduction, size_t rank) {
  std::vector<bool> folded(rank, false);
  for (const int64_t d : reduction.attributes.get_or<IntList>("dims", {}))
    folded[static_cast<size_t>(d)] = true;
  return folded;
}

double real_identity(Reduction kind, DType dtype) {
  const double top = facts_of(dtype).top;
  const std::array<double, 5> identities = {0, 0, 1, top, -top};
  return identities[static_cast<size_t>(kind)];
}

int64_t int_identity(Reduction kind, DType dtype) {
  if (kind == Reduction::kMin) return greatest(dtype);
  if (kind == Reduction::kMax) return least(dtype);
  return kind == Reduction::kProd;
}

}  // namespace hostir::kernels
