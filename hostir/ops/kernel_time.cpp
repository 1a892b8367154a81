#include "hostir/ops/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace hostir {

namespace {

// Small products leave most of a device idle, but not in proportion to their work: they are cut
// into smaller tiles. Of 22 products of an H200 that were not fitted, 0.7 predicts the times best
// (mean error 9 %; 12 % with 1).
constexpr double kRampPower = 0.7;

}  // namespace

void KernelTime::add(double flops, std::optional<DType> product) {
  const double rate = machine_.flops(product.value_or(DType::kF32));
  if (rate <= 0) return;
  arithmetic_s_ += flops / rate;
  if (product && flops > 0)
    ramp_s_ += flops / rate * std::pow(machine_.product_ramp_flops / flops, kRampPower);
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
