// Counts and extremes of a tensor's elements.
#pragma once

#include <cstdint>
#include <limits>

#include "hostir/ir/tensor.h"

namespace hostir {

struct TensorStatistics {
  int64_t elements = 0;
  int64_t nans = 0;
  int64_t infs = 0;
  /// Over all elements except NaNs, including infinities; NaN if there are none.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;  // of all elements; NaN if one of them is
  /// Over finite elements; 0 if there are none.
  double finite_min = 0;
  double finite_max = 0;
  double finite_mean = 0;

  double mean() const { return elements == 0 ? 0 : sum / static_cast<double>(elements); }
};

TensorStatistics tensor_statistics(const Tensor& tensor);

}  // namespace hostir
