// Element types.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hostir {

enum class DType : uint8_t { kF64, kF32, kBF16, kF16, kI64, kI32, kI8, kU8, kI1 };

inline constexpr std::array<DType, 9> kAllDTypes = {DType::kF64, DType::kF32, DType::kBF16,
                                                    DType::kF16, DType::kI64, DType::kI32,
                                                    DType::kI8,  DType::kU8,  DType::kI1};

/// Size of one element in memory; i1 is stored as one byte, 0 or 1.
constexpr int64_t size_bytes(DType dtype) {
  constexpr std::array<int64_t, 9> kSizes = {8, 4, 2, 2, 8, 4, 1, 1, 1};
  return kSizes[static_cast<size_t>(dtype)];
}

constexpr std::string_view name(DType dtype) {
  constexpr std::array<std::string_view, 9> kNames = {"f64", "f32", "bf16", "f16", "i64",
                                                      "i32", "i8",  "u8",   "i1"};
  return kNames[static_cast<size_t>(dtype)];
}

constexpr bool is_float(DType dtype) { return dtype <= DType::kF16; }
constexpr bool is_16_bit_float(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16;
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
