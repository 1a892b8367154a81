#include "interp/core/value_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hostir::interp {

void add_stats(DType dtype, const std::byte* data, int64_t elems, ValueSummary& summary) {
  summary.has_stats = true;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < elems; ++i) {
    const double value = load_double(dtype, data + i * size_bytes(dtype));
    if (std::isnan(value)) {
      ++summary.nan_count;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    if (std::isinf(value)) {
      ++summary.inf_count;
      continue;
    }
    sum += value;
    ++finite;
  }
  if (low > high) low = high = 0;
  summary.min = low;
  summary.max = high;
  summary.mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
}

}  // namespace hostir::interp
