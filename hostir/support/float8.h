// Conversions to and from the 8-bit floats f8e4m3 and f8e5m2, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace hostir {

namespace float8 {
#define HOSTIR_FLOAT8(...) __VA_ARGS__
#define HOSTIR_FLOAT8_FUNCTION constexpr
#include "hostir/support/float8.inc"
#undef HOSTIR_FLOAT8_FUNCTION
#undef HOSTIR_FLOAT8
}  // namespace float8

constexpr float f8e4m3_to_float(uint8_t bits) {
  return std::bit_cast<float>(float8::f32_of_f8e4m3(bits));
}
constexpr float f8e5m2_to_float(uint8_t bits) {
  return std::bit_cast<float>(float8::f32_of_f8e5m2(bits));
}
/// Beyond 464, and for infinity, NaN.
constexpr uint8_t float_to_f8e4m3(float value) {
  return static_cast<uint8_t>(float8::f8e4m3_bits(std::bit_cast<uint32_t>(value)));
}
/// From 61440 on infinity.
constexpr uint8_t float_to_f8e5m2(float value) {
  return static_cast<uint8_t>(float8::f8e5m2_bits(std::bit_cast<uint32_t>(value)));
}

}  // namespace hostir
