#include "kernels/cpu/plan/contraction.h"

#include <algorithm>

namespace hostir::cpu {
namespace {

double multiply_add(double sum, double a, double b) { return sum + a * b; }
int64_t multiply_add(int64_t sum, int64_t a, int64_t b) { return wrap_add(sum, wrap_mul(a, b)); }

std::vector<double> load_all(const double*, DType dtype, ConstMemory memory, int64_t count) {
  return all_reals(dtype, memory, count);
}
std::vector<int64_t> load_all(const int64_t*, DType dtype, ConstMemory memory, int64_t count) {
  return all_ints(dtype, memory, count);
}
void store_row(DType dtype, std::byte* base, int64_t first, int64_t count, const double* row) {
  store_reals(dtype, base, first, count, row);
}
void store_row(DType dtype, std::byte* base, int64_t first, int64_t count, const int64_t* row) {
  store_ints(dtype, base, first, count, row);
}

/// The operand's batch index: 0 where its extent is 1 (broadcast).
void set_batch(const Extents& operand, const std::vector<int64_t>& result, size_t result_batch,
               std::vector<int64_t>& index, size_t operand_batch) {
  for (size_t d = 0; d < operand_batch; ++d) {
    const int64_t wanted = result[result_batch - operand_batch + d];
    index[d] = operand[d] == 1 ? 0 : wanted;
  }
}

template <class T>
class Contraction {
 public:
  Contraction(const ReferenceCall& call, RightLayout layout)
      : call_(call),
        layout_(layout),
        left_(*call.in[0]),
        right_(*call.in[1]),
        out_(*call.out[0]),
        left_values_(
            load_all(static_cast<T*>(nullptr), left_.dtype, call.in_data[0], left_.box.volume())),
        right_values_(load_all(static_cast<T*>(nullptr), right_.dtype, call.in_data[1],
                               right_.box.volume())) {
    const size_t right_rank = right_.global.size();
    const size_t right_k = layout == RightLayout::kRowsAreK ? right_rank - 2 : right_rank - 1;
    k_lo_ = std::max(left_.box.lo.back(), right_.box.lo[right_k]);
    k_hi_ = std::min(left_.box.hi.back(), right_.box.hi[right_k]);
  }

  void run() const {
    if (out_.box.empty()) return;
    // Iterates over rows of the result: every dimension but the last.
    Box rows = out_.box;
    rows.hi.back() = rows.lo.back() + 1;
    const BoxIndexer write(out_.box);
    std::vector<T> sums;
    for_each_index(rows, [&](const std::vector<int64_t>& index) {
      row(index, sums);
      add_bias(sums);
      store_row(out_.dtype, call_.out_data[0].data, write.offset(index),
                static_cast<int64_t>(sums.size()), sums.data());
    });
  }

 private:
  void row(const std::vector<int64_t>& index, std::vector<T>& sums) const {
    const int64_t j_lo = out_.box.lo.back();
    const auto columns = static_cast<size_t>(out_.box.hi.back() - j_lo);
    sums.assign(columns, T{0});
    const BoxIndexer left_at(left_.box);
    const BoxIndexer right_at(right_.box);
    const bool rows_are_k = layout_ == RightLayout::kRowsAreK;
    const size_t right_rank = right_.global.size();
    const size_t k_dim = rows_are_k ? right_rank - 2 : right_rank - 1;
    const size_t j_dim = rows_are_k ? right_rank - 1 : right_rank - 2;
    std::vector<int64_t> left_index = index;
    for (size_t d = 0; d + 2 < index.size(); ++d) {
      if (left_.global[d] == 1) left_index[d] = 0;
    }
    std::vector<int64_t> right_index(right_rank, 0);
    if (rows_are_k) set_batch(right_.global, index, index.size() - 2, right_index, right_rank - 2);
    const Extents right_strides = strides_of(right_.local());
    const auto j_step = static_cast<size_t>(right_strides[j_dim]);
    for (int64_t k = k_lo_; k < k_hi_; ++k) {
      left_index.back() = k;
      right_index[k_dim] = k;
      right_index[j_dim] = j_lo;
      const T a = left_values_[static_cast<size_t>(left_at.offset(left_index))];
      const T* b = right_values_.data() + right_at.offset(right_index);
      for (size_t j = 0; j < columns; ++j) sums[j] = multiply_add(sums[j], a, b[j * j_step]);
    }
  }

  void add_bias(std::vector<T>& sums) const {
    if (call_.in.size() < 3) return;
    Box wanted;
    wanted.lo = {out_.box.lo.back()};
    wanted.hi = {out_.box.hi.back()};
    const AlignedOperand bias(*call_.in[2], call_.in_data[2], wanted);
    const ConstMemory memory{bias.data(), 0};
    const std::vector<T> values = load_all(static_cast<T*>(nullptr), call_.in[2]->dtype, memory,
                                           static_cast<int64_t>(sums.size()));
    for (size_t j = 0; j < sums.size(); ++j) sums[j] = multiply_add(sums[j], T{1}, values[j]);
  }

  const ReferenceCall& call_;
  RightLayout layout_;
  const Placement& left_;
  const Placement& right_;
  const Placement& out_;
  std::vector<T> left_values_;
  std::vector<T> right_values_;
  int64_t k_lo_ = 0;
  int64_t k_hi_ = 0;
};

}  // namespace

void contract(const ReferenceCall& call, RightLayout layout) {
  if (is_float(call.out[0]->dtype)) {
    Contraction<double>(call, layout).run();
  } else {
    Contraction<int64_t>(call, layout).run();
  }
}

}  // namespace hostir::cpu
