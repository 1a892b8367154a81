// The arithmetic of a reduction, element by element, for host and device.
//
// The bits are those of interp/sim/fold.h: f64 in f64; f32 in f32; narrower floats in f32, rounded
// once at the end; integers wrap; i1 is a truth value. min and max propagate NaN. `avg` divides the
// sum by the number of inputs, integers towards zero. Plain C++ without standard library functions,
// because it is also compiled for the device.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HOSTIR_ON_DEVICE __host__ __device__
#else
#define HOSTIR_ON_DEVICE
#endif

namespace hostir::cuda {

union FloatBits {
  float value;
  uint32_t bits;
};

HOSTIR_ON_DEVICE inline float float_of_bits(uint32_t bits) {
  FloatBits u;
  u.bits = bits;
  return u.value;
}
HOSTIR_ON_DEVICE inline uint32_t bits_of_float(float value) {
  FloatBits u;
  u.value = value;
  return u.bits;
}

struct ElementF64 {
  using Stored = double;
  using Sum = double;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return v; }
  HOSTIR_ON_DEVICE static Stored store(Sum v) { return v; }
};
struct ElementF32 {
  using Stored = float;
  using Sum = float;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return v; }
  HOSTIR_ON_DEVICE static Stored store(Sum v) { return v; }
};
struct ElementBF16 {
  using Stored = uint16_t;
  using Sum = float;
  HOSTIR_ON_DEVICE static Sum load(Stored v) {
    return float_of_bits(static_cast<uint32_t>(v) << 16);
  }
  HOSTIR_ON_DEVICE static Stored store(Sum v) {  // to nearest, ties to even
    const uint32_t bits = bits_of_float(v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<Stored>((bits >> 16) | 0x40u);
    return static_cast<Stored>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};
struct ElementF16 {
  using Stored = uint16_t;
  using Sum = float;
  HOSTIR_ON_DEVICE static Sum load(Stored v) {
    const uint32_t sign = static_cast<uint32_t>(v & 0x8000u) << 16;
    const uint32_t exponent = (v >> 10) & 0x1fu;
    const uint32_t mantissa = v & 0x3ffu;
    if (exponent == 0x1fu) return float_of_bits(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {  // mantissa * 2^-24, exact in f32
      const float magnitude = static_cast<float>(mantissa) * float_of_bits(0x33800000u);
      return sign != 0 ? -magnitude : magnitude;
    }
    return float_of_bits(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  }
  HOSTIR_ON_DEVICE static Stored store(Sum v) {  // to nearest, ties to even
    const uint32_t bits = bits_of_float(v);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<Stored>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<Stored>(sign | 0x7c00u);  // rounds beyond
    if (magnitude < 0x38800000u) {  // denormal or zero: in units of 2^-24
      if (magnitude < 0x33000000u) return static_cast<Stored>(sign);
      const uint32_t exponent = magnitude >> 23;
      const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
      const uint32_t shift = 126u - exponent;  // 14 .. 24
      const uint32_t kept = mantissa >> shift;
      const uint32_t rest = mantissa & ((1u << shift) - 1u);
      const uint32_t half = 1u << (shift - 1u);
      const uint32_t up = rest > half || (rest == half && (kept & 1u)) ? 1u : 0u;
      return static_cast<Stored>(sign | (kept + up));
    }
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<Stored>(sign | ((rounded - 0x38000000u) >> 13));
  }
};
#define HOSTIR_FLOAT8(...) __VA_ARGS__
#define HOSTIR_FLOAT8_FUNCTION HOSTIR_ON_DEVICE inline
#include "hostir/support/float8.inc"
#undef HOSTIR_FLOAT8_FUNCTION
#undef HOSTIR_FLOAT8

struct ElementF8E4M3 {
  using Stored = uint8_t;
  using Sum = float;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return float_of_bits(f32_of_f8e4m3(v)); }
  HOSTIR_ON_DEVICE static Stored store(Sum v) {
    return static_cast<Stored>(f8e4m3_bits(bits_of_float(v)));
  }
};
struct ElementF8E5M2 {
  using Stored = uint8_t;
  using Sum = float;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return float_of_bits(f32_of_f8e5m2(v)); }
  HOSTIR_ON_DEVICE static Stored store(Sum v) {
    return static_cast<Stored>(f8e5m2_bits(bits_of_float(v)));
  }
};
template <class T>
struct ElementInteger {
  using Stored = T;
  using Sum = T;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return v; }
  HOSTIR_ON_DEVICE static Stored store(Sum v) { return v; }
};
struct ElementTruth {
  using Stored = uint8_t;
  using Sum = uint8_t;
  HOSTIR_ON_DEVICE static Sum load(Stored v) { return v != 0 ? 1 : 0; }
  HOSTIR_ON_DEVICE static Stored store(Sum v) { return v; }
};

template <class T>
struct IsFloat {
  static constexpr bool kValue = false;
};
template <>
struct IsFloat<float> {
  static constexpr bool kValue = true;
};
template <>
struct IsFloat<double> {
  static constexpr bool kValue = true;
};

struct CombineSum {
  static constexpr bool kAverage = false;
  template <class T>
  HOSTIR_ON_DEVICE static T combine(T a, T b) {
    if constexpr (IsFloat<T>::kValue) {
      return a + b;
    } else {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
  }
};
struct CombineAverage : CombineSum {
  static constexpr bool kAverage = true;
};
struct CombineProduct {
  static constexpr bool kAverage = false;
  template <class T>
  HOSTIR_ON_DEVICE static T combine(T a, T b) {
    if constexpr (IsFloat<T>::kValue) {
      return a * b;
    } else {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
  }
};
struct CombineLeast {
  static constexpr bool kAverage = false;
  template <class T>
  HOSTIR_ON_DEVICE static T combine(T a, T b) {
    return (b < a || b != b) ? b : a;
  }
};
struct CombineGreatest {
  static constexpr bool kAverage = false;
  template <class T>
  HOSTIR_ON_DEVICE static T combine(T a, T b) {
    return (a < b || b != b) ? b : a;
  }
};

/// Reduces one element over all inputs.
template <class Element, class Combine>
HOSTIR_ON_DEVICE inline typename Element::Stored fold_element(const void* const* inputs, int count,
                                                              int64_t i) {
  using Stored = typename Element::Stored;
  auto sum = Element::load(static_cast<const Stored*>(inputs[0])[i]);
  for (int k = 1; k < count; ++k) {
    sum = Combine::combine(sum, Element::load(static_cast<const Stored*>(inputs[k])[i]));
  }
  if constexpr (Combine::kAverage) {
    using Sum = typename Element::Sum;
    sum = static_cast<Sum>(sum / static_cast<Sum>(count));
  }
  return Element::store(sum);
}

}  // namespace hostir::cuda
