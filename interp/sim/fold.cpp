#include "interp/sim/fold.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "hostir/support/float16.h"
#include "hostir/support/float8.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tile/strand_fold.h"

namespace hostir::sim {

namespace {

constexpr int64_t kTile = 2048;        // elements: partial sums stay in the L1 cache
constexpr int64_t kTilesPerPiece = 8;  // unit of work of one thread

// Storage type and accumulation type of a dtype.
struct F64 {
  using Stored = double;
  using Sum = double;
  static Sum load(Stored v) { return v; }
  static Stored store(Sum v) { return v; }
};
struct F16 {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored v) { return f16_to_float(v); }
  static Stored store(Sum v) { return float_to_f16(v); }
};
template <float (*from)(uint8_t), uint8_t (*to)(float)>
struct F8 {
  using Stored = uint8_t;
  using Sum = float;
  static Sum load(Stored v) { return from(v); }
  static Stored store(Sum v) { return to(v); }
};
template <class T>
struct Integer {
  using Stored = T;
  using Sum = T;
  static Sum load(Stored v) { return v; }
  static Stored store(Sum v) { return v; }
};
struct Truth {
  using Stored = uint8_t;
  using Sum = uint8_t;
  static Sum load(Stored v) { return v != 0 ? 1 : 0; }
  static Stored store(Sum v) { return v; }
};

template <class T>
T wrapping(T a, T b, bool product) {
  using U = std::make_unsigned_t<T>;
  const auto x = static_cast<uint64_t>(static_cast<U>(a));
  const auto y = static_cast<uint64_t>(static_cast<U>(b));
  return static_cast<T>(static_cast<U>(product ? x * y : x + y));
}

struct Add {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return wrapping(a, b, false);
  }
};
struct Multiply {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return wrapping(a, b, true);
  }
};
struct Least {
  template <class T>
  static T combine(T a, T b) {
    return (b < a || b != b) ? b : a;
  }
};
struct Greatest {
  template <class T>
  static T combine(T a, T b) {
    return (a < b || b != b) ? b : a;
  }
};

template <class D, class Op>
void fold_tile(std::span<const std::byte* const> inputs, std::byte* out, int64_t begin, int64_t n,
               bool average) {
  using Stored = typename D::Stored;
  using Sum = typename D::Sum;
  std::array<Sum, kTile> acc;
  std::array<Stored, kTile> in;
  const size_t bytes = static_cast<size_t>(n) * sizeof(Stored);
  const int64_t at = begin * static_cast<int64_t>(sizeof(Stored));
  const auto count = static_cast<size_t>(n);
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::memcpy(in.data(), inputs[k] + at, bytes);
    if (k == 0) {
      for (size_t i = 0; i < count; ++i) acc[i] = D::load(in[i]);
    } else {
      for (size_t i = 0; i < count; ++i) acc[i] = Op::combine(acc[i], D::load(in[i]));
    }
  }
  if (average) {
    const auto ranks = static_cast<Sum>(inputs.size());
    for (size_t i = 0; i < count; ++i) acc[i] = static_cast<Sum>(acc[i] / ranks);
  }
  for (size_t i = 0; i < count; ++i) in[i] = D::store(acc[i]);
  std::memcpy(out + at, in.data(), bytes);
}

using Inputs = std::span<const std::byte* const>;

template <class D, class Op>
void fold_all(Inputs inputs, std::byte* out, int64_t elems, bool average) {
  const int64_t tiles = (elems + kTile - 1) / kTile;
  const int64_t pieces = (tiles + kTilesPerPiece - 1) / kTilesPerPiece;
  cpu::parallel_for(pieces, [&](int64_t piece) {
    const int64_t end = std::min(tiles, (piece + 1) * kTilesPerPiece);
    for (int64_t tile = piece * kTilesPerPiece; tile < end; ++tile) {
      const int64_t at = tile * kTile;
      fold_tile<D, Op>(inputs, out, at, std::min(kTile, elems - at), average);
    }
  });
}

template <class D>
void fold_dtype(Reduction reduction, Inputs inputs, std::byte* out, int64_t elems) {
  switch (reduction) {
    case Reduction::kSum:
      return fold_all<D, Add>(inputs, out, elems, false);
    case Reduction::kAvg:
      return fold_all<D, Add>(inputs, out, elems, true);
    case Reduction::kProd:
      return fold_all<D, Multiply>(inputs, out, elems, false);
    case Reduction::kMin:
      return fold_all<D, Least>(inputs, out, elems, false);
    case Reduction::kMax:
      return fold_all<D, Greatest>(inputs, out, elems, false);
  }
}

void fold_truth(Reduction reduction, Inputs inputs, std::byte* out, int64_t elems) {
  const bool all = reduction == Reduction::kProd || reduction == Reduction::kMin;
  if (all) return fold_all<Truth, Least>(inputs, out, elems, false);
  fold_all<Truth, Greatest>(inputs, out, elems, false);
}

}  // namespace

void fold(Reduction reduction, DType dtype, Inputs inputs, std::byte* out, int64_t elems) {
  switch (dtype) {
    case DType::kF64:
      return fold_dtype<F64>(reduction, inputs, out, elems);
    case DType::kF32:
    case DType::kBF16:
      cpu::fold_in_order(reduction, dtype, inputs, out, elems);
      return;
    case DType::kF16:
      return fold_dtype<F16>(reduction, inputs, out, elems);
    case DType::kF8E4M3:
      return fold_dtype<F8<f8e4m3_to_float, float_to_f8e4m3>>(reduction, inputs, out, elems);
    case DType::kF8E5M2:
      return fold_dtype<F8<f8e5m2_to_float, float_to_f8e5m2>>(reduction, inputs, out, elems);
    case DType::kI64:
      return fold_dtype<Integer<int64_t>>(reduction, inputs, out, elems);
    case DType::kI32:
      return fold_dtype<Integer<int32_t>>(reduction, inputs, out, elems);
    case DType::kI16:
      return fold_dtype<Integer<int16_t>>(reduction, inputs, out, elems);
    case DType::kI8:
      return fold_dtype<Integer<int8_t>>(reduction, inputs, out, elems);
    case DType::kU64:
      return fold_dtype<Integer<uint64_t>>(reduction, inputs, out, elems);
    case DType::kU32:
      return fold_dtype<Integer<uint32_t>>(reduction, inputs, out, elems);
    case DType::kU16:
      return fold_dtype<Integer<uint16_t>>(reduction, inputs, out, elems);
    case DType::kU8:
      return fold_dtype<Integer<uint8_t>>(reduction, inputs, out, elems);
    case DType::kI1:
      return fold_truth(reduction, inputs, out, elems);
  }
}

}  // namespace hostir::sim
