#include "interp/core/value_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace hostir::interp {

namespace {

// An IEEE number whose exponent is all ones is an infinity if its mantissa is zero, else a NaN.
template <class Bits>
void count_bits(const std::byte* data, int64_t elems, Bits exponent, ValueSummary& summary) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr int64_t kBlock = 4096;
  const auto magnitude = [&](int64_t i) {
    Bits bits;
    std::memcpy(&bits, data + i * static_cast<int64_t>(sizeof(Bits)), sizeof(Bits));
    return static_cast<Bits>(bits & static_cast<Bits>(~kSign));
  };
  int64_t nans = 0;
  int64_t infinities = 0;
  for (int64_t begin = 0; begin < elems; begin += kBlock) {
    const int64_t end = std::min(elems, begin + kBlock);
    Bits largest = 0;  // nearly always finite: then skip counting
    for (int64_t i = begin; i < end; ++i) largest = std::max(largest, magnitude(i));
    for (int64_t i = begin; largest >= exponent && i < end; ++i) {
      nans += magnitude(i) > exponent ? 1 : 0;
      infinities += magnitude(i) == exponent ? 1 : 0;
    }
  }
  summary.nan_count = nans;
  summary.inf_count = infinities;
}

}  // namespace

void count_not_finite(DType dtype, const std::byte* data, int64_t elems, ValueSummary& summary) {
  switch (dtype) {
    case DType::kF64:
      return count_bits<uint64_t>(data, elems, 0x7ff0000000000000u, summary);
    case DType::kF32:
      return count_bits<uint32_t>(data, elems, 0x7f800000u, summary);
    case DType::kBF16:
      return count_bits<uint16_t>(data, elems, 0x7f80u, summary);
    case DType::kF16:
      return count_bits<uint16_t>(data, elems, 0x7c00u, summary);
    case DType::kF8E4M3:  // 0x7e is the largest number, 0x7f NaN
      count_bits<uint8_t>(data, elems, 0x7eu, summary);
      summary.inf_count = 0;
      return;
    case DType::kF8E5M2:
      return count_bits<uint8_t>(data, elems, 0x7cu, summary);
    default:
      return;
  }
}

void add_stats(DType dtype, const std::byte* data, int64_t elems, ValueSummary& summary) {
  summary.has_stats = true;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < elems; ++i) {
    const double value = load_double(dtype, data + i * size_bytes(dtype));
    if (std::isnan(value)) {
      ++summary.nan_count;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    if (std::isinf(value)) {
      ++summary.inf_count;
      continue;
    }
    sum += value;
    ++finite;
  }
  if (low > high) low = high = 0;
  summary.min = low;
  summary.max = high;
  summary.mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
}

}  // namespace hostir::interp
