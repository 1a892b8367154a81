// 8-bit floats: every value, and the rounding of f32 at every border between two of them.
#include "hostir/support/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hostir/ir/tensor.h"

namespace hostir {
namespace {

struct Format {
  DType dtype;
  int mantissa_bits;
  int bias;
  int largest;  // the code of the largest number
  float (*to_float)(uint8_t);
  uint8_t (*from_float)(float);
};

constexpr Format kFormats[] = {
    {DType::kF8E4M3, 3, 7, 0x7e, f8e4m3_to_float, float_to_f8e4m3},
    {DType::kF8E5M2, 2, 15, 0x7b, f8e5m2_to_float, float_to_f8e5m2},
};

// The value of a finite code by the definition of the format.
float defined(const Format& f, int code) {
  const int magnitude = code & 0x7f;
  const int exponent = magnitude >> f.mantissa_bits;
  const int mantissa = magnitude & ((1 << f.mantissa_bits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
  const float value = std::ldexp(static_cast<float>(hidden + mantissa),
                                 std::max(exponent, 1) - f.bias - f.mantissa_bits);
  return code >= 0x80 ? -value : value;
}

TEST(Float8, EveryValue) {
  for (const Format& f : kFormats) {
    for (int code = 0; code < 256; ++code) {
      const auto byte = static_cast<uint8_t>(code);
      const float value = f.to_float(byte);
      const int magnitude = code & 0x7f;
      if (magnitude <= f.largest) {
        EXPECT_EQ(value, defined(f, code)) << name(f.dtype) << " " << code;
        EXPECT_EQ(std::signbit(value), code >= 0x80);
        EXPECT_EQ(f.from_float(value), byte) << name(f.dtype) << " " << code;
      } else if (f.dtype == DType::kF8E5M2 && magnitude == 0x7c) {
        EXPECT_TRUE(std::isinf(value));
        EXPECT_EQ(f.from_float(value), byte);
      } else {
        EXPECT_TRUE(std::isnan(value)) << name(f.dtype) << " " << code;
        EXPECT_EQ(std::signbit(value), code >= 0x80);
      }
    }
  }
}

TEST(Float8, RoundsToTheNearestAndTiesToEven) {
  for (const Format& f : kFormats) {
    for (int code = 0; code < f.largest; ++code) {
      const float low = f.to_float(static_cast<uint8_t>(code));
      const float high = f.to_float(static_cast<uint8_t>(code + 1));
      const float middle = (low + high) / 2;
      const int even = code % 2 == 0 ? code : code + 1;
      EXPECT_EQ(f.from_float(middle), even) << name(f.dtype) << " " << middle;
      EXPECT_EQ(f.from_float(std::nextafter(middle, 0.0f)), code);
      EXPECT_EQ(f.from_float(std::nextafter(middle, 1e9f)), code + 1);
      EXPECT_EQ(f.from_float(-middle), even | 0x80);
      EXPECT_EQ(f.from_float(-std::nextafter(middle, 0.0f)), code | 0x80);
    }
  }
}

TEST(Float8, BeyondTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float_to_f8e4m3(464.0f), 0x7e);  // the tie between 448 and what would be 480
  EXPECT_EQ(float_to_f8e4m3(std::nextafter(464.0f, 500.0f)), 0x7f);
  EXPECT_EQ(float_to_f8e4m3(-1e30f), 0xff);
  EXPECT_EQ(float_to_f8e4m3(kInf), 0x7f);
  EXPECT_EQ(float_to_f8e4m3(std::nanf("")), 0x7f);
  EXPECT_EQ(float_to_f8e5m2(std::nextafter(61440.0f, 0.0f)), 0x7b);
  EXPECT_EQ(float_to_f8e5m2(61440.0f), 0x7c);
  EXPECT_EQ(float_to_f8e5m2(-kInf), 0xfc);
  EXPECT_EQ(float_to_f8e5m2(std::nanf("")), 0x7e);
  for (const Format& f : kFormats) {
    EXPECT_EQ(f.from_float(1e-40f), 0);  // subnormal f32
    EXPECT_EQ(f.from_float(-1e-40f), 0x80);
  }
}

// The table of dtypes says the same as the conversions.
TEST(Float8, TheTableOfDtypesAgrees) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(facts_of(dtype).dtype, dtype);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    Tensor one = Tensor::zeros(dtype, {});
    EXPECT_EQ(static_cast<int64_t>(one.data.size()), size_bytes(dtype));
    if (is_float(dtype)) {
      one.set_double(0, facts_of(dtype).top);
      EXPECT_EQ(one.get_double(0), facts_of(dtype).top) << name(dtype);
      if (facts_of(dtype).overflow == 0) continue;
      one.set_double(0, facts_of(dtype).overflow);
      EXPECT_FALSE(std::isfinite(one.get_double(0))) << name(dtype);
      const auto below = std::nextafter(static_cast<float>(facts_of(dtype).overflow), 0.0f);
      one.set_double(0, static_cast<double>(below));
      EXPECT_TRUE(std::isfinite(one.get_double(0))) << name(dtype);
      continue;
    }
    for (const int64_t bound : {least(dtype), greatest(dtype)}) {
      one.set_int(0, bound);
      EXPECT_EQ(one.get_int(0), bound) << name(dtype);
    }
  }
}

TEST(Tensor, LargeUnsignedNumbersKeepTheirValue) {
  Tensor t = Tensor::zeros(DType::kU64, {2});
  t.set_double(0, 0x1p63);
  t.set_double(1, 1e30);
  EXPECT_EQ(t.get_double(0), 0x1p63);
  EXPECT_EQ(t.get_int(1), -1);  // all 64 bits
  const Tensor f = converted(t, DType::kF64);
  EXPECT_EQ(f.get_double(0), 0x1p63);
  EXPECT_EQ(f.get_double(1), 0x1p64);
  EXPECT_EQ(converted(f, DType::kU64), t);
}

}  // namespace
}  // namespace hostir
