// Plans dot_general as a matrix product whose rows, columns and batches may be any dimensions.
#include <algorithm>

#include "hostir/ops/dot_general.h"
#include "kernels/common/elements.h"
#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"
#include "kernels/cuda/generate/products.h"

namespace hostir::cuda {
namespace {

bool is_library_matrix(int64_t row_stride, int64_t column_stride, int64_t rows, int64_t columns) {
  return (column_stride == 1 && row_stride >= columns) ||
         (row_stride == 1 && column_stride >= rows);
}

}  // namespace

std::optional<int64_t> joined_stride(const Walk& walk, const Extents& extents,
                                     const IntList& dims) {
  std::optional<int64_t> stride;
  int64_t next = 0;  // expected stride of the next dimension
  for (size_t i = dims.size(); i > 0; --i) {
    const auto d = static_cast<size_t>(dims[i - 1]);
    if (extents[d] == 1) continue;
    if (stride && walk.strides[d] != next) return std::nullopt;
    if (!stride) stride = walk.strides[d];
    next = walk.strides[d] * extents[d];
  }
  return stride.value_or(1);
}

int64_t volume_of(const Extents& extents, const IntList& dims) {
  int64_t volume = 1;
  for (const int64_t d : dims) volume *= extents[static_cast<size_t>(d)];
  return volume;
}

// A row-major copy of a part of a value, with its dimensions in the order of `dims`, and its
// strides.
int Planner::copied_in_order(uint32_t value, const Walk& walk, const Extents& extents,
                             const std::vector<IntList>& dims, Extents& strides) {
  Extents ordered;
  Walk read{walk.offset, {}};
  for (const IntList& list : dims) {
    for (const int64_t d : list) {
      ordered.push_back(extents[static_cast<size_t>(d)]);
      read.strides.push_back(walk.strides[static_cast<size_t>(d)]);
    }
  }
  const DType dtype = placement(value).dtype;
  int64_t elems = 1;
  for (const int64_t n : ordered) elems *= n;
  const int from = root_buffer(value);
  const int to = temporary(elems * size_bytes(dtype));
  strides = kernels::strides_of(ordered);
  emit_parts({copy_part(ordered, dtype, from, read, to, {0, strides})}, plan_);
  return to;
}

// The part `box` of an operand with `dims` = {batch, rows, columns}. Copied to a matrix if it is
// not one in memory.
Matrix Planner::dot_operand(uint32_t value, const Box& box, const std::vector<IntList>& dims) {
  if (states_[value].at == ValueState::At::kLiteral) materialise(value);
  const int from = root_buffer(value);
  const Walk walk = *walk_over(value, box);
  const Extents extents = box.extents();
  const int64_t rows = volume_of(extents, dims[1]);
  const int64_t columns = volume_of(extents, dims[2]);
  auto row_stride = joined_stride(walk, extents, dims[1]);
  auto column_stride = joined_stride(walk, extents, dims[2]);
  if (row_stride && column_stride) {
    if (rows == 1) row_stride = *column_stride == 1 ? std::max<int64_t>(columns, 1) : 1;
    if (columns == 1) column_stride = *row_stride == 1 ? std::max<int64_t>(rows, 1) : 1;
    if (is_library_matrix(*row_stride, *column_stride, rows, columns)) {
      Matrix matrix{from, walk.offset, {}, *row_stride, *column_stride};
      for (const int64_t d : dims[0]) {
        matrix.batch_strides.push_back(walk.strides[static_cast<size_t>(d)]);
      }
      return matrix;
    }
  }
  Extents strides;
  const int to = copied_in_order(value, walk, extents, dims, strides);
  Matrix matrix{to, 0, {}, std::max<int64_t>(columns, 1), 1};
  matrix.batch_strides.assign(strides.begin(),
                              strides.begin() + static_cast<std::ptrdiff_t>(dims[0].size()));
  return matrix;
}

Expected<void> Planner::add_dot(const Instruction& instruction) {
  const uint32_t lhs = instruction.operands[0].value.index;
  const uint32_t rhs = instruction.operands[1].value.index;
  const uint32_t result = instruction.results[0].index;
  const Placement& left = placement(lhs);
  const Placement& right = placement(rhs);
  const Placement& out = placement(result);
  const auto d = ops::dot_dims(instruction.attributes, left.global.size(), right.global.size());
  Box a = left.box;
  Box b = right.box;
  const auto narrow = [&](Box& box, int64_t dim, int64_t lo, int64_t hi) {
    box.lo[static_cast<size_t>(dim)] = lo;
    box.hi[static_cast<size_t>(dim)] = hi;
  };
  size_t at = 0;
  for (size_t i = 0; i < d.lhs_batch.size(); ++i, ++at) {
    narrow(a, d.lhs_batch[i], out.box.lo[at], out.box.hi[at]);
    narrow(b, d.rhs_batch[i], out.box.lo[at], out.box.hi[at]);
  }
  for (const int64_t f : d.lhs_free) {
    narrow(a, f, out.box.lo[at], out.box.hi[at]);
    ++at;
  }
  for (const int64_t f : d.rhs_free) {
    narrow(b, f, out.box.lo[at], out.box.hi[at]);
    ++at;
  }
  // This rank multiplies the part that both operands hold.
  int64_t k = 1;
  for (size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const auto l = static_cast<size_t>(d.lhs_contract[i]);
    const auto r = static_cast<size_t>(d.rhs_contract[i]);
    const int64_t lo = std::max(a.lo[l], b.lo[r]);
    const int64_t hi = std::max(lo, std::min(a.hi[l], b.hi[r]));
    narrow(a, d.lhs_contract[i], lo, hi);
    narrow(b, d.rhs_contract[i], lo, hi);
    k *= hi - lo;
  }
  if (k == 0) {
    set_literal(result,
                is_float(out.dtype) ? literal(out.dtype, 0.0) : literal(out.dtype, int64_t{0}));
    return {};
  }
  if (!walk_over(lhs, a) || !walk_over(rhs, b)) {
    return unsupported(instruction, "this rank does not hold all elements that it multiplies");
  }
  const Extents local = out.local();
  const size_t batch = d.lhs_batch.size();
  ProductStep step;
  step.dtype = out.dtype;
  step.batch.assign(local.begin(), local.begin() + static_cast<std::ptrdiff_t>(batch));
  step.m = volume_of(a.extents(), d.lhs_free);
  step.n = volume_of(b.extents(), d.rhs_free);
  step.k = k;
  step.a = dot_operand(lhs, a, {d.lhs_batch, d.lhs_free, d.lhs_contract});
  step.b = dot_operand(rhs, b, {d.rhs_batch, d.rhs_contract, d.rhs_free});
  const bool is_plain = d.lhs_free.size() == 1 && d.rhs_free.size() == 1;
  const uint32_t last = is_plain ? absorb_epilogues(instruction, step) : result;
  step.d = dense_matrix(buffer_for(last), step.batch, step.m, step.n);
  set_memory(last, step.d.buffer);
  join_batch(step);
  emit_product(std::move(step), flops_of(instruction), plan_);
  return {};
}

}  // namespace hostir::cuda
