#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/portable_math.h"

namespace hostir::cpu::portable {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// One word of zeros, then the bits of 2/pi after the binary point.
constexpr std::array<uint64_t, 21> kTwoOverPi = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d};

/// Bits [first, first + 64) of the table; `first` counts from the start of the zero word.
uint64_t window(int64_t first) {
  const auto word = static_cast<size_t>(first / 64);
  const auto shift = static_cast<unsigned>(first % 64);
  if (shift == 0) return kTwoOverPi[word];
  return (kTwoOverPi[word] << shift) | (kTwoOverPi[word + 1] >> (64 - shift));
}

struct Reduced {
  int quadrant = 0;  // 0..3
  double r = 0;      // |r| <= pi/4, x = quadrant * pi/2 + r
};

/// Payne-Hanek reduction of x > pi/4 in integers: x * 2/pi mod 4 to 190 fractional bits.
Reduced reduce(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint64_t m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int64_t e = static_cast<int64_t>(bits >> 52) - 1075;
  const int64_t first = e - 2 + 64;  // bits of higher weight contribute multiples of 4
  const UInt128 low = UInt128{m} * window(first + 128);
  const UInt128 middle = UInt128{m} * window(first + 64) + static_cast<uint64_t>(low >> 64);
  const uint64_t high = m * window(first) + static_cast<uint64_t>(middle >> 64);
  // high:middle:low is x * 2/pi mod 4 with the binary point after the second bit.
  auto quadrant = static_cast<int>(high >> 62);
  const UInt128 top = (UInt128{high} << 64) | static_cast<uint64_t>(middle);
  UInt128 fraction = top << 2 | (static_cast<uint64_t>(low) >> 62);
  if (high & 0x2000000000000000u) quadrant = (quadrant + 1) % 4;  // round to nearest
  const auto signed_fraction = static_cast<Int128>(fraction);
  const auto f_hi = static_cast<double>(signed_fraction);
  const auto f_lo = static_cast<double>(signed_fraction - static_cast<Int128>(f_hi));
  const double unit = 0x1p-128;
  constexpr double kPio2Hi = 0x1.921fb54442d18p+0;
  constexpr double kPio2Lo = 0x1.1a62633145c07p-54;
  const double r = f_hi * unit * kPio2Hi + (f_hi * unit * kPio2Lo + f_lo * unit * kPio2Hi);
  return {quadrant, r};
}

double sin_small(double x) {
  const double x2 = x * x;
  double p = 0;
  for (int n = 19; n >= 3; n -= 2) p = (-1.0 - p) * x2 / static_cast<double>(n * (n - 1));
  return x + x * p;
}

double cos_small(double x) {
  const double x2 = x * x;
  double p = 0;
  for (int n = 20; n >= 2; n -= 2) p = (-1.0 - p) * x2 / static_cast<double>(n * (n - 1));
  return 1.0 + p;
}

double sin_of_quadrant(int quadrant, double r) {
  const double value = quadrant % 2 == 0 ? sin_small(r) : cos_small(r);
  return quadrant < 2 ? value : -value;
}

constexpr double kQuarterPi = 0x1.921fb54442d18p-1;

}  // namespace

double sin(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude <= kQuarterPi) return sin_small(x);
  if (!(magnitude < std::numeric_limits<double>::infinity())) return x - x;
  const Reduced reduced = reduce(magnitude);
  const double value = sin_of_quadrant(reduced.quadrant, reduced.r);
  return x < 0 ? -value : value;
}

double cos(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude <= kQuarterPi) return cos_small(x);
  if (!(magnitude < std::numeric_limits<double>::infinity())) return x - x;
  const Reduced reduced = reduce(magnitude);
  return sin_of_quadrant((reduced.quadrant + 1) % 4, reduced.r);
}

}  // namespace hostir::cpu::portable
