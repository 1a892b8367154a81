// A value fits a dtype if it survives the conversion.
#include "hostir/ir/fits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hostir {
namespace {

TEST(Fits, IntegersFitExactlyWhereTheySurvive) {
  for (const DType dtype : {DType::kI64, DType::kI32, DType::kI16, DType::kI8, DType::kU32,
                            DType::kU16, DType::kU8, DType::kI1}) {
    Tensor one = Tensor::zeros(dtype, {});
    for (const int bit : {0, 1, 7, 8, 15, 31, 32, 62}) {
      for (const int64_t near : {-1, 0, 1}) {
        for (const int64_t sign : {-1, 1}) {
          const int64_t value = sign * ((int64_t{1} << bit) + near);
          one.set_int(0, value);
          EXPECT_EQ(fits(value, dtype), one.get_int(0) == value) << value << " " << name(dtype);
        }
      }
    }
  }
}

TEST(Fits, FloatsFitWhereTheyStayFinite) {
  for (const DType dtype :
       {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2}) {
    Tensor one = Tensor::zeros(dtype, {});
    for (const double limit : {464.0, 464.1, 61439.9, 61440.0, 65504.0, 65519.9, 65520.0,
                               3.38953e38, 3.3961775e38, 3.4028234e38, 3.4028236e38, 1e300}) {
      one.set_double(0, limit);
      EXPECT_EQ(fits(limit, dtype), std::isfinite(one.get_double(0))) << limit << name(dtype);
      EXPECT_EQ(fits(-limit, dtype), fits(limit, dtype));
    }
    EXPECT_TRUE(fits(std::nan(""), dtype));
    EXPECT_EQ(fits(INFINITY, dtype), dtype != DType::kF8E4M3);
  }
  EXPECT_FALSE(fits(std::nan(""), DType::kI32));
  EXPECT_FALSE(fits(0x1p63, DType::kI64));
  EXPECT_TRUE(fits(0x1p63, DType::kU64));
  EXPECT_FALSE(fits(0x1p64, DType::kU64));
  EXPECT_FALSE(fits(int64_t{-1}, DType::kU64));
  EXPECT_TRUE(fits(2147483647.9, DType::kI32));  // the fraction is truncated
}

TEST(Fits, TheFirstElementThatDoesNotFitIsNamed) {
  Tensor t = Tensor::zeros(DType::kI64, {2, 3});
  t.set_int(4, int64_t{1} << 40);
  t.set_int(5, -1);
  EXPECT_EQ(first_unfit(t, DType::kI32), 4);
  EXPECT_EQ(first_unfit(t, DType::kI64), std::nullopt);
  EXPECT_EQ(first_unfit(t, DType::kU64), 5);
  Tensor large = Tensor::zeros(DType::kU64, {2});
  large.set_int(1, -1);
  EXPECT_EQ(first_unfit(large, DType::kI64), 1);
  EXPECT_EQ(first_unfit(large, DType::kF32), std::nullopt);
  t.set_int(4, 1);
  EXPECT_EQ(first_unfit(t, DType::kI1), 5);
}

}  // namespace
}  // namespace hostir
