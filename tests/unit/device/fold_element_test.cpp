// The reduction arithmetic shared by host and device, against the scalar conversions used
// elsewhere.
#include "interp/cuda/fold_element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "hostir/support/float16.h"

namespace hostir::cuda {
namespace {

TEST(FoldElement, EverySixteenBitFloatIsReadAlike) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<uint16_t>(bits);
    EXPECT_EQ(std::bit_cast<uint32_t>(ElementF16::load(stored)),
              std::bit_cast<uint32_t>(f16_to_float(stored)))
        << bits;
    EXPECT_EQ(std::bit_cast<uint32_t>(ElementBF16::load(stored)),
              std::bit_cast<uint32_t>(bf16_to_float(stored)))
        << bits;
  }
}

// Values around every rounding boundary of f16, and many others.
TEST(FoldElement, FloatsAreRoundedAlike) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4093) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    ASSERT_EQ(ElementF16::store(value), float_to_f16(value)) << value;
    ASSERT_EQ(ElementBF16::store(value), float_to_bf16(value)) << value;
  }
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    const float low = f16_to_float(static_cast<uint16_t>(half));
    const float high = f16_to_float(static_cast<uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;
    for (const float value : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      ASSERT_EQ(ElementF16::store(value), float_to_f16(value)) << value;
      ASSERT_EQ(ElementF16::store(-value), float_to_f16(-value)) << value;
    }
  }
}

TEST(FoldElement, NanWinsAndIntegersWrap) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(CombineLeast::combine(1.0f, nan)));
  EXPECT_TRUE(std::isnan(CombineGreatest::combine(nan, 1.0f)));
  EXPECT_EQ((CombineSum::combine<int8_t>(127, 1)), -128);
  EXPECT_EQ((CombineProduct::combine<int32_t>(1 << 30, 4)), 0);
  const int32_t values[] = {-7};
  const int32_t others[] = {4};
  const void* inputs[] = {values, others};
  EXPECT_EQ((fold_element<ElementInteger<int32_t>, CombineAverage>(inputs, 2, 0)), -1);
}

}  // namespace
}  // namespace hostir::cuda
