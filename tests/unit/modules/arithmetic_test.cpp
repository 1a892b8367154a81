// Folded integers wrap in their own dtype, as the program would compute them.
#include "hostir/import/emit/arithmetic.h"

#include <gtest/gtest.h>

namespace hostir::importer {
namespace {

TEST(Arithmetic, ResultsWrapInTheDtype) {
  EXPECT_EQ(combined("stablehlo.add", DType::kI32, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(combined("stablehlo.add", DType::kU32, UINT32_MAX, 1), 0);
  EXPECT_EQ(combined("stablehlo.multiply", DType::kU8, 16, 17), 16);
  EXPECT_EQ(combined("stablehlo.subtract", DType::kU64, 0, 1), -1);  // the 64 bits of 2^64 - 1
  EXPECT_EQ(combined("stablehlo.add", DType::kI1, 1, 1), 1);
}

TEST(Arithmetic, ShiftsOfTheWholeWidthGiveZero) {
  EXPECT_EQ(combined("stablehlo.shift_left", DType::kI32, 1, 31), INT32_MIN);
  EXPECT_EQ(combined("stablehlo.shift_left", DType::kI32, 1, 32), 0);
  EXPECT_EQ(combined("stablehlo.shift_right_logical", DType::kI32, -1, 28), 15);
  EXPECT_EQ(combined("stablehlo.shift_right_logical", DType::kI32, -1, -1), 0);
  EXPECT_EQ(combined("stablehlo.shift_right_logical", DType::kU64, -1, 63), 1);
}

TEST(Arithmetic, WhatTheProgramMustComputeIsNotFolded) {
  EXPECT_FALSE(combined("stablehlo.divide", DType::kI32, 1, 0));
  EXPECT_FALSE(combined("stablehlo.divide", DType::kI32, INT32_MIN, -1));
  EXPECT_FALSE(combined("stablehlo.maximum", DType::kU64, -1, 1));  // 2^64 - 1 and 1
  EXPECT_FALSE(combined("stablehlo.power", DType::kI32, 2, 2));
  EXPECT_FALSE(holds("LT", DType::kU64, -1, 1));
}

TEST(Arithmetic, IntegersCompareExactly) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_EQ(holds("EQ", DType::kI64, large, large + 1), false);
  EXPECT_EQ(holds("LT", DType::kI64, large, large + 1), true);
}

}  // namespace
}  // namespace hostir::importer
