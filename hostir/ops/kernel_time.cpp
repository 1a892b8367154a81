#include "hostir/ops/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace hostir {

void KernelTime::add(double flops, std::optional<DType> product) {
  const double rate = machine_.flops(product.value_or(DType::kF32));
  if (rate <= 0) return;
  arithmetic_s_ += flops / rate;
  if (product) ramp_s_ += machine_.product_ramp_flops / rate;
}

double KernelTime::memory_s(double bytes) const {
  const double bandwidth = machine_.memory_bandwidth_bytes_per_s;
  return bandwidth > 0 ? bytes / bandwidth : 0;
}

double KernelTime::limit_ns(double bytes) const {
  return std::max(arithmetic_s_, memory_s(bytes)) * 1e9;
}

double KernelTime::expected_ns(double bytes) const {
  return std::hypot(arithmetic_s_ + ramp_s_, memory_s(bytes)) * 1e9;
}

}  // namespace hostir
