#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

namespace {

/// For each operand dimension, the step in the result's memory (0: folded) and the result
/// dimension.
struct Folding {
  Extents steps;
  std::vector<int> result_dims;  // -1: folded
};

Folding folding_of(const ReferenceCall& call) {
  const size_t rank = call.in[0]->global.size();
  const size_t result_rank = call.out[0]->global.size();
  const std::vector<bool> folded = kernels::folded_dims(call.instruction, rank);
  const Extents strides = strides_of(call.out[0]->local());
  Folding folding{Extents(rank, 0), std::vector<int>(rank, -1)};
  const bool keeps_dims = result_rank == rank;
  size_t next = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (!folded[d] && next < result_rank) {
      const size_t result_dim = keeps_dims ? d : next++;
      folding.steps[d] = strides[result_dim];
      folding.result_dims[d] = static_cast<int>(result_dim);
    }
  }
  return folding;
}

/// Calls f(position in the operand's memory, position in the result's) for every element.
template <class F>
void for_each_pair(const ReferenceCall& call, F f) {
  const Folding folding = folding_of(call);
  const Box& result = call.out[0]->box;
  int64_t source = 0;
  for_each_index(call.in[0]->box, [&](const std::vector<int64_t>& index) {
    int64_t target = 0;
    bool inside = !result.empty();
    for (size_t d = 0; d < index.size(); ++d) {
      if (folding.result_dims[d] < 0) continue;
      const auto r = static_cast<size_t>(folding.result_dims[d]);
      inside = inside && index[d] >= result.lo[r] && index[d] < result.hi[r];
      target += (index[d] - result.lo[r]) * folding.steps[d];
    }
    if (inside) f(static_cast<size_t>(source), static_cast<size_t>(target));
    ++source;
  });
}

template <class T, class Load, class Op, class Finish, class Store>
void fold(const ReferenceCall& call, T identity, Load load, Op op, Finish finish, Store store) {
  const int64_t elems = call.out[0]->box.volume();
  const std::vector<T> values = load(call.in[0]->dtype, call.in_data[0], call.in[0]->box.volume());
  std::vector<T> sums(static_cast<size_t>(elems), identity);
  for_each_pair(
      call, [&](size_t source, size_t target) { sums[target] = op(sums[target], values[source]); });
  for (T& sum : sums) sum = finish(sum);
  store(call.out[0]->dtype, call.out_data[0].data, 0, elems, sums.data());
}

}  // namespace

int64_t folded_elems(const ReferenceCall& call) {
  int64_t count = 1;
  const Folding folding = folding_of(call);
  for (size_t d = 0; d < folding.result_dims.size(); ++d) {
    if (folding.result_dims[d] < 0) count *= call.in[0]->global[d];
  }
  return count;
}

void reduce(const ReferenceCall& call, const ReduceOps& ops) {
  const DType dtype = call.in[0]->dtype;
  if (is_float(dtype)) {
    fold(
        call, real_identity(ops.kind, dtype), all_reals, ops.real, [](double x) { return x; },
        store_reals);
  } else if (ops.natural != nullptr && is_unsigned(dtype)) {
    fold(
        call, int_identity(ops.kind, dtype), all_ints,
        [&ops](int64_t a, int64_t x) {
          return static_cast<int64_t>(
              ops.natural(static_cast<uint64_t>(a), static_cast<uint64_t>(x)));
        },
        [](int64_t x) { return x; }, store_ints);
  } else {
    fold(
        call, int_identity(ops.kind, dtype), all_ints, ops.integer, [](int64_t x) { return x; },
        store_ints);
  }
}

void reduce_and_divide(const ReferenceCall& call, int64_t divisor) {
  if (is_float(call.in[0]->dtype)) {
    const auto n = static_cast<double>(divisor);
    fold(
        call, 0.0, all_reals, [](double a, double x) { return a + x; },
        [n](double x) { return x / n; }, store_reals);
  } else {
    const bool is_natural = is_unsigned(call.in[0]->dtype);
    fold(
        call, int64_t{0}, all_ints, wrap_add,
        [divisor, is_natural](int64_t x) {
          if (divisor == 0) return int64_t{0};
          if (!is_natural) return x / divisor;
          return static_cast<int64_t>(static_cast<uint64_t>(x) / static_cast<uint64_t>(divisor));
        },
        store_ints);
  }
}

}  // namespace hostir::cpu
