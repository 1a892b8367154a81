#include "hostir/ops/kernel_time.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hostir {
namespace {

double product_ns(double flops, double ramp_flops) {
  Machine machine;
  machine.flops_per_s[static_cast<size_t>(DType::kBF16)] = 1e12;
  machine.product_ramp_flops = ramp_flops;
  KernelTime time(machine);
  time.add(flops, DType::kBF16);
  return time.expected_ns(0);
}

TEST(KernelTime, AProductOfTheRampsWorkHasHalfItsRate) {
  EXPECT_NEAR(product_ns(1e9, 0), 1e6, 1);
  EXPECT_NEAR(product_ns(1e9, 1e9), 2e6, 1);
}

TEST(KernelTime, TheRateRisesWithTheWork) {
  const double small = product_ns(1e6, 1e9);
  const double large = product_ns(1e12, 1e9);
  EXPECT_GT(small, 50 * 1e3);
  EXPECT_LT(small, 1e6);  // less than a product with 1000 times the work
  EXPECT_NEAR(large, 1e9, 1e7);
}

}  // namespace
}  // namespace hostir
