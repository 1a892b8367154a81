#include "hostir/ops/dot_general.h"

#include <algorithm>

#include "kernels/cpu/plan/contraction.h"

namespace hostir::cpu {
namespace {

double times_plus(double sum, double a, double b) { return sum + a * b; }
int64_t times_plus(int64_t sum, int64_t a, int64_t b) { return wrap_add(sum, wrap_mul(a, b)); }

std::vector<double> values_of(const double*, const Placement& p, ConstMemory memory) {
  return all_reals(p.dtype, memory, p.box.volume());
}
std::vector<int64_t> values_of(const int64_t*, const Placement& p, ConstMemory memory) {
  return all_ints(p.dtype, memory, p.box.volume());
}
void store_value(DType dtype, std::byte* base, int64_t at, const double* value) {
  store_reals(dtype, base, at, 1, value);
}
void store_value(DType dtype, std::byte* base, int64_t at, const int64_t* value) {
  store_ints(dtype, base, at, 1, value);
}

/// Sums the products over the part of the contracted dimensions that both operands hold on this
/// rank, in row-major order.
template <class T>
void dot(const ReferenceCall& call) {
  const Placement& lhs = *call.in[0];
  const Placement& rhs = *call.in[1];
  const Placement& out = *call.out[0];
  const auto d = ops::dot_dims(call.instruction.attributes, lhs.global.size(), rhs.global.size());
  const std::vector<T> left = values_of(static_cast<T*>(nullptr), lhs, call.in_data[0]);
  const std::vector<T> right = values_of(static_cast<T*>(nullptr), rhs, call.in_data[1]);
  Box contracted;
  for (size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const auto l = static_cast<size_t>(d.lhs_contract[i]);
    const auto r = static_cast<size_t>(d.rhs_contract[i]);
    contracted.lo.push_back(std::max(lhs.box.lo[l], rhs.box.lo[r]));
    contracted.hi.push_back(std::max(contracted.lo.back(), std::min(lhs.box.hi[l], rhs.box.hi[r])));
  }
  const BoxIndexer left_at(lhs.box);
  const BoxIndexer right_at(rhs.box);
  const BoxIndexer write(out.box);
  std::vector<int64_t> left_index(lhs.global.size(), 0);
  std::vector<int64_t> right_index(rhs.global.size(), 0);
  const size_t batch = d.lhs_batch.size();
  for_each_index(out.box, [&](const std::vector<int64_t>& index) {
    for (size_t i = 0; i < batch; ++i) {
      left_index[static_cast<size_t>(d.lhs_batch[i])] = index[i];
      right_index[static_cast<size_t>(d.rhs_batch[i])] = index[i];
    }
    for (size_t i = 0; i < d.lhs_free.size(); ++i) {
      left_index[static_cast<size_t>(d.lhs_free[i])] = index[batch + i];
    }
    for (size_t i = 0; i < d.rhs_free.size(); ++i) {
      right_index[static_cast<size_t>(d.rhs_free[i])] = index[batch + d.lhs_free.size() + i];
    }
    T sum{0};
    for_each_index(contracted, [&](const std::vector<int64_t>& k) {
      for (size_t i = 0; i < k.size(); ++i) {
        left_index[static_cast<size_t>(d.lhs_contract[i])] = k[i];
        right_index[static_cast<size_t>(d.rhs_contract[i])] = k[i];
      }
      sum = times_plus(sum, left[static_cast<size_t>(left_at.offset(left_index))],
                       right[static_cast<size_t>(right_at.offset(right_index))]);
    });
    store_value(out.dtype, call.out_data[0].data, write.offset(index), &sum);
  });
}

}  // namespace

void reference_dot_general(const ReferenceCall& call) {
  if (is_float(call.out[0]->dtype)) {
    dot<double>(call);
  } else {
    dot<int64_t>(call);
  }
}

}  // namespace hostir::cpu
