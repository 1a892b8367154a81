// The loops of element-wise ops.
#include <algorithm>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {
namespace {

/// Calls f(first, count) for chunks of the result.
template <class F>
void for_each_chunk(int64_t elems, F f) {
  for (int64_t first = 0; first < elems; first += kChunk) f(first, std::min(kChunk, elems - first));
}

template <class Chunk, class Load, class Body>
void map_two(const ReferenceCall& call, Load load, Body body) {
  const Box& box = call.out[0]->box;
  const AlignedOperand a(*call.in[0], call.in_data[0], box);
  const AlignedOperand b(*call.in[1], call.in_data[1], box);
  Chunk x, y;
  for_each_chunk(box.volume(), [&](int64_t first, int64_t count) {
    load(call.in[0]->dtype, a.data(), first, count, x.data());
    load(call.in[1]->dtype, b.data(), first, count, y.data());
    body(first, count, x, y);
  });
}

}  // namespace

void map_unary(const ReferenceCall& call, RealUnary real, IntUnary integer) {
  const Placement& in = *call.in[0];
  const Placement& out = *call.out[0];
  const AlignedOperand operand(in, call.in_data[0], out.box);
  // The reals of u64 are not those of the int64 that holds its bits.
  const bool as_real =
      is_float(in.dtype) || integer == nullptr || (in.dtype == DType::kU64 && is_float(out.dtype));
  RealChunk reals;
  IntChunk ints;
  for_each_chunk(out.box.volume(), [&](int64_t first, int64_t count) {
    if (as_real) {
      load_reals(in.dtype, operand.data(), first, count, reals.data());
      for (int64_t i = 0; i < count; ++i)
        reals[static_cast<size_t>(i)] = real(reals[static_cast<size_t>(i)]);
      store_reals(out.dtype, call.out_data[0].data, first, count, reals.data());
    } else {
      load_ints(in.dtype, operand.data(), first, count, ints.data());
      for (int64_t i = 0; i < count; ++i)
        ints[static_cast<size_t>(i)] = integer(ints[static_cast<size_t>(i)]);
      store_ints(out.dtype, call.out_data[0].data, first, count, ints.data());
    }
  });
}

void map_binary(const ReferenceCall& call, RealBinary real, IntBinary integer, UintBinary natural) {
  const Placement& out = *call.out[0];
  std::byte* to = call.out_data[0].data;
  if (is_float(call.in[0]->dtype)) {
    map_two<RealChunk>(call, load_reals, [&](int64_t first, int64_t count, auto& x, auto& y) {
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) x[i] = real(x[i], y[i]);
      store_reals(out.dtype, to, first, count, x.data());
    });
    return;
  }
  const bool is_natural = natural != nullptr && is_unsigned(call.in[0]->dtype);
  map_two<IntChunk>(call, load_ints, [&](int64_t first, int64_t count, auto& x, auto& y) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      x[i] = is_natural ? static_cast<int64_t>(
                              natural(static_cast<uint64_t>(x[i]), static_cast<uint64_t>(y[i])))
                        : integer(x[i], y[i]);
    }
    store_ints(out.dtype, to, first, count, x.data());
  });
}

void map_compare(const ReferenceCall& call, bool (*real)(double, double),
                 bool (*integer)(int64_t, int64_t), bool (*natural)(uint64_t, uint64_t)) {
  const Placement& out = *call.out[0];
  std::byte* to = call.out_data[0].data;
  IntChunk truth;
  if (is_float(call.in[0]->dtype)) {
    map_two<RealChunk>(call, load_reals, [&](int64_t first, int64_t count, auto& x, auto& y) {
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) truth[i] = real(x[i], y[i]);
      store_ints(out.dtype, to, first, count, truth.data());
    });
    return;
  }
  const bool is_natural = natural != nullptr && is_unsigned(call.in[0]->dtype);
  map_two<IntChunk>(call, load_ints, [&](int64_t first, int64_t count, auto& x, auto& y) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      truth[i] = is_natural ? natural(static_cast<uint64_t>(x[i]), static_cast<uint64_t>(y[i]))
                            : integer(x[i], y[i]);
    }
    store_ints(out.dtype, to, first, count, truth.data());
  });
}

}  // namespace hostir::cpu
