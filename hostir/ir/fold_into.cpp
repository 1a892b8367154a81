#include "hostir/ir/fold_into.h"

namespace hostir {
namespace {

// Computes in f64: rounding the f64 sum or product of two f32 to f32 gives the f32 result.
template <class T, class Wide>
T folded(T a, T b, Reduction kind) {
  switch (kind) {
    case Reduction::kSum:
    case Reduction::kAvg:
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    case Reduction::kProd:
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    case Reduction::kMin:
      return a != a || a < b ? a : b;
    case Reduction::kMax:
      return a != a || a > b ? a : b;
  }
  return a;
}

}  // namespace

void fold_into(Tensor& into, int64_t to, const Tensor& from, int64_t at, int64_t count,
               Reduction kind) {
  for (int64_t i = 0; i < count; ++i) {
    if (into.dtype == DType::kU64) {
      const auto bits = [](int64_t x) { return static_cast<uint64_t>(x); };
      into.set_int(to + i, static_cast<int64_t>(folded<uint64_t, uint64_t>(
                               bits(into.get_int(to + i)), bits(from.get_int(at + i)), kind)));
    } else if (is_float(into.dtype)) {
      into.set_double(
          to + i, folded<double, double>(into.get_double(to + i), from.get_double(at + i), kind));
    } else {
      into.set_int(to + i,
                   folded<int64_t, uint64_t>(into.get_int(to + i), from.get_int(at + i), kind));
    }
  }
}

}  // namespace hostir
