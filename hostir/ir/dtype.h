// Element types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace hostir {

enum class DType : uint8_t {
  kF64,
  kF32,
  kBF16,
  kF16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kI1
};

/// The fixed properties of a dtype.
struct DTypeFacts {
  enum class Kind : uint8_t { kFloat, kSigned, kUnsigned, kTruth };
  DType dtype;
  std::string_view name;
  Kind kind;
  int64_t bytes;
  /// Floats: explicit bits of the mantissa, and the smallest magnitude in f32 (f64 for f64) that
  /// does not round to a finite number; 0 where every f64 has a finite rounding.
  int mantissa_bits = 0;
  double overflow = 0;
  /// Floats: infinity, or the largest finite value if the type has no infinity.
  double top = std::numeric_limits<double>::infinity();
};

/// One row per dtype, in the order of the enumeration. f8e4m3 is what ml_dtypes and PyTorch call
/// float8_e4m3fn: no infinities, 0x7f is NaN, the largest number is 448.
inline constexpr std::array<DTypeFacts, 15> kDTypeFacts = {{
    {DType::kF64, "f64", DTypeFacts::Kind::kFloat, 8, 52},
    {DType::kF32, "f32", DTypeFacts::Kind::kFloat, 4, 23, 0x1.ffffffp127},
    {DType::kBF16, "bf16", DTypeFacts::Kind::kFloat, 2, 7, 0x1.ffp127},
    {DType::kF16, "f16", DTypeFacts::Kind::kFloat, 2, 10, 65520},
    {DType::kF8E4M3, "f8e4m3", DTypeFacts::Kind::kFloat, 1, 3, 0x1.d00002p8, 448},
    {DType::kF8E5M2, "f8e5m2", DTypeFacts::Kind::kFloat, 1, 2, 61440},
    {DType::kI64, "i64", DTypeFacts::Kind::kSigned, 8},
    {DType::kI32, "i32", DTypeFacts::Kind::kSigned, 4},
    {DType::kI16, "i16", DTypeFacts::Kind::kSigned, 2},
    {DType::kI8, "i8", DTypeFacts::Kind::kSigned, 1},
    {DType::kU64, "u64", DTypeFacts::Kind::kUnsigned, 8},
    {DType::kU32, "u32", DTypeFacts::Kind::kUnsigned, 4},
    {DType::kU16, "u16", DTypeFacts::Kind::kUnsigned, 2},
    {DType::kU8, "u8", DTypeFacts::Kind::kUnsigned, 1},
    {DType::kI1, "i1", DTypeFacts::Kind::kTruth, 1},
}};

inline constexpr std::array<DType, kDTypeFacts.size()> kAllDTypes = [] {
  std::array<DType, kDTypeFacts.size()> out = {};
  for (size_t i = 0; i < out.size(); ++i) out[i] = kDTypeFacts[i].dtype;
  return out;
}();

constexpr const DTypeFacts& facts_of(DType dtype) {
  return kDTypeFacts[static_cast<size_t>(dtype)];
}

/// Size of one element in memory; i1 is stored as one byte, 0 or 1.
constexpr int64_t size_bytes(DType dtype) { return facts_of(dtype).bytes; }
constexpr std::string_view name(DType dtype) { return facts_of(dtype).name; }

constexpr bool is_float(DType dtype) { return facts_of(dtype).kind == DTypeFacts::Kind::kFloat; }
/// Signed or unsigned, but not i1.
constexpr bool is_integer(DType dtype) {
  return facts_of(dtype).kind == DTypeFacts::Kind::kSigned ||
         facts_of(dtype).kind == DTypeFacts::Kind::kUnsigned;
}
/// Not i1.
constexpr bool is_unsigned(DType dtype) {
  return facts_of(dtype).kind == DTypeFacts::Kind::kUnsigned;
}
constexpr bool is_16_bit_float(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16;
}
/// 16 and 8 bits wide: computed in f32 and rounded.
constexpr bool is_narrow_float(DType dtype) { return is_float(dtype) && size_bytes(dtype) < 4; }

/// The smallest and the largest value of an integer dtype or i1, as the 64 bits that hold it.
constexpr int64_t least(DType dtype) {
  if (facts_of(dtype).kind != DTypeFacts::Kind::kSigned) return 0;
  return INT64_MIN >> (64 - 8 * size_bytes(dtype));
}
constexpr int64_t greatest(DType dtype) {
  if (dtype == DType::kI1) return 1;
  if (!is_unsigned(dtype)) return INT64_MAX >> (64 - 8 * size_bytes(dtype));
  return static_cast<int64_t>(UINT64_MAX >> (64 - 8 * size_bytes(dtype)));
}

constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (const DType dtype : kAllDTypes) {
    if (name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

/// How partial values combine; also the reduction op of a collective (ncclRedOp_t).
enum class Reduction : uint8_t { kSum, kAvg, kProd, kMin, kMax };

constexpr std::string_view name(Reduction reduction) {
  constexpr std::array<std::string_view, 5> kNames = {"sum", "avg", "prod", "min", "max"};
  return kNames[static_cast<size_t>(reduction)];
}

constexpr std::optional<Reduction> parse_reduction(std::string_view text) {
  for (uint8_t i = 0; i < 5; ++i) {
    if (name(static_cast<Reduction>(i)) == text) return static_cast<Reduction>(i);
  }
  return std::nullopt;
}

}  // namespace hostir
