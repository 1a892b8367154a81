#include "hostir/ir/tensor_statistics.h"

#include <cmath>

namespace hostir {

TensorStatistics tensor_statistics(const Tensor& tensor) {
  TensorStatistics s;
  s.elements = tensor.element_count();
  double finite_sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < s.elements; ++i) {
    const double x = tensor.get_double(i);
    s.sum += x;
    if (std::isnan(x)) {
      ++s.nans;
      continue;
    }
    s.min = std::fmin(s.min, x);  // ignores the NaN that it begins with
    s.max = std::fmax(s.max, x);
    if (std::isinf(x)) {
      ++s.infs;
      continue;
    }
    s.finite_min = finite == 0 ? x : std::fmin(s.finite_min, x);
    s.finite_max = finite == 0 ? x : std::fmax(s.finite_max, x);
    finite_sum += x;
    ++finite;
  }
  if (finite > 0) s.finite_mean = finite_sum / static_cast<double>(finite);
  return s;
}

}  // namespace hostir
