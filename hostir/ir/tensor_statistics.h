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
  /// Over everything but NaNs, infinities included; NaN where there is nothing else.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;  // of all elements: one NaN makes it a NaN
  /// Over finite elements; 0 where there are none.
  double finite_min = 0;
  double finite_max = 0;
  double finite_mean = 0;

  double mean() const { return elements == 0 ? 0 : sum / static_cast<double>(elements); }
};

TensorStatistics tensor_statistics(const Tensor& tensor);

}  // namespace hostir
