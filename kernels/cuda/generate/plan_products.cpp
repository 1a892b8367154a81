// Matrix products and their fused epilogues.
#include <algorithm>

#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"
#include "kernels/cuda/generate/products.h"

namespace hostir::cuda {
namespace {

/// True if one stride is 1 and the other at least the length of the row or column, as a library
/// requires. Adjusts strides of extents of one to fit.
bool normalise(Matrix& matrix, int64_t rows, int64_t columns) {
  if (columns == 1 && (rows == 1 || matrix.row_stride != 1)) matrix.column_stride = 1;
  if (rows == 1 && matrix.column_stride != 1) matrix.row_stride = 1;
  if (matrix.column_stride == 1 && rows == 1) matrix.row_stride = std::max<int64_t>(1, columns);
  if (matrix.row_stride == 1 && matrix.column_stride != 1 && columns == 1) {
    matrix.column_stride = std::max<int64_t>(1, rows);
  }
  return (matrix.column_stride == 1 && matrix.row_stride >= columns) ||
         (matrix.row_stride == 1 && matrix.column_stride >= rows);
}

bool walks_on(const Matrix& matrix, int64_t m) {
  return matrix.buffer < 0 || matrix.batch_strides.back() == m * matrix.row_stride;
}

}  // namespace

void join_batch(ProductStep& step) {
  const auto for_each = [&](auto f) {
    for (Matrix* matrix : {&step.a, &step.b, &step.c, &step.d}) {
      if (matrix->buffer >= 0) f(*matrix);
    }
  };
  for (size_t d = step.batch.size(); d > 0; --d) {
    if (step.batch[d - 1] != 1) continue;
    step.batch.erase(step.batch.begin() + static_cast<std::ptrdiff_t>(d - 1));
    for_each([d](Matrix& matrix) {
      matrix.batch_strides.erase(matrix.batch_strides.begin() + static_cast<std::ptrdiff_t>(d - 1));
    });
  }
  while (!step.batch.empty() && step.b.batch_strides.back() == 0 && walks_on(step.a, step.m) &&
         walks_on(step.c, step.m) && walks_on(step.d, step.m)) {
    step.m *= step.batch.back();
    step.batch.pop_back();
    for_each([](Matrix& matrix) { matrix.batch_strides.pop_back(); });
  }
  // Merge batch dimensions that every matrix walks evenly.
  for (size_t d = step.batch.size(); d > 1; --d) {
    bool even = true;
    for_each([&](const Matrix& matrix) {
      even &= matrix.batch_strides[d - 2] == matrix.batch_strides[d - 1] * step.batch[d - 1];
    });
    if (!even) continue;
    step.batch[d - 2] *= step.batch[d - 1];
    step.batch.erase(step.batch.begin() + static_cast<std::ptrdiff_t>(d - 1));
    for_each([d](Matrix& matrix) {
      matrix.batch_strides.erase(matrix.batch_strides.begin() + static_cast<std::ptrdiff_t>(d - 2));
    });
  }
}

Matrix dense_matrix(int buffer, const Extents& batch, int64_t m, int64_t n) {
  Matrix matrix{buffer, 0, Extents(batch.size(), 0), n, 1};
  int64_t stride = m * n;
  for (size_t d = batch.size(); d > 0; --d) {
    matrix.batch_strides[d - 1] = stride;
    stride *= batch[d - 1];
  }
  return matrix;
}

// The part `box` of an operand; materialised if cuBLASLt cannot access it through strides.
Expected<Matrix> Planner::matrix_of(const Instruction& product, size_t operand, const Box& box,
                                    size_t row_dim, size_t column_dim) {
  const uint32_t value = product.operands[operand].value.index;
  if (states_[value].at == ValueState::At::kLiteral) materialise(value);
  const Extents extents = box.extents();
  for (const bool again : {false, true}) {
    const int buffer = root_buffer(value);
    const auto walk = walk_over(value, box);
    if (!walk)
      return unsupported(product, "this rank does not hold all elements that it multiplies");
    Matrix matrix{buffer, walk->offset, {}, 0, walk->strides[column_dim]};
    const bool is_vector = row_dim == column_dim;  // x of rank 1
    const int64_t rows = is_vector ? 1 : extents[row_dim];
    matrix.row_stride = is_vector ? extents[column_dim] : walk->strides[row_dim];
    for (size_t d = 0; d + 2 < extents.size(); ++d) {
      matrix.batch_strides.push_back(placement(value).global[d] == 1 ? 0 : walk->strides[d]);
    }
    if (normalise(matrix, rows, extents[column_dim]) || again) return matrix;
    if (states_[value].at == ValueState::At::kMemory) return matrix;
    materialise(value);
  }
  return unsupported(product, "its operand has no strides that a product accepts");
}

Expected<void> Planner::add_product(const Instruction& instruction) {
  const uint32_t result = instruction.results[0].index;
  const Placement& left = placement(instruction.operands[0].value);
  const Placement& right = placement(instruction.operands[1].value);
  const Placement& out = placement(result);
  const bool rows_are_k = cuda_op(instruction.kind).right_rows_are_k;
  const size_t rank = out.global.size();
  const size_t right_rank = right.global.size();
  const size_t k_dim = rows_are_k ? right_rank - 2 : right_rank - 1;
  const size_t n_dim = rows_are_k ? right_rank - 1 : right_rank - 2;
  // This rank multiplies the part of k that both operands hold.
  Box a = left.box;
  Box b = right.box;
  const int64_t k_lo = std::max(a.lo.back(), b.lo[k_dim]);
  const int64_t k_hi = std::max(k_lo, std::min(a.hi.back(), b.hi[k_dim]));
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (left.global[d] == 1) continue;
    a.lo[d] = out.box.lo[d];
    a.hi[d] = out.box.hi[d];
  }
  for (size_t d = 0; right_rank > 2 && d + 2 < rank; ++d) {
    if (right.global[d] == 1) continue;
    b.lo[d] = out.box.lo[d];
    b.hi[d] = out.box.hi[d];
  }
  a.lo.back() = b.lo[k_dim] = k_lo;
  a.hi.back() = b.hi[k_dim] = k_hi;
  b.lo[n_dim] = out.box.lo.back();
  b.hi[n_dim] = out.box.hi.back();

  ProductStep step;
  step.dtype = out.dtype;
  const Extents local = out.local();
  step.n = local.back();
  step.m = rank == 1 ? 1 : local[rank - 2];
  step.k = k_hi - k_lo;
  if (rank > 2) step.batch.assign(local.begin(), local.end() - 2);
  if (step.k == 0) {  // nothing to multiply: any matrix will do, none is read
    step.a = {root_buffer(instruction.operands[0].value.index), 0, Extents(step.batch.size(), 0), 1,
              1};
    step.b = {root_buffer(instruction.operands[1].value.index), 0, Extents(step.batch.size(), 0), 1,
              1};
    if (step.a.buffer < 0) step.a.buffer = materialise(instruction.operands[0].value.index);
    if (step.b.buffer < 0) step.b.buffer = materialise(instruction.operands[1].value.index);
  } else {
    HOSTIR_ASSIGN_OR_RETURN(step.a,
                            matrix_of(instruction, 0, a, rank == 1 ? 0 : rank - 2, rank - 1));
    HOSTIR_ASSIGN_OR_RETURN(step.b, matrix_of(instruction, 1, b, k_dim, n_dim));
    if (right_rank == 2) step.b.batch_strides.assign(step.batch.size(), 0);
  }
  if (instruction.operands.size() > 2) {
    const uint32_t bias = instruction.operands[2].value.index;
    Box wanted;
    wanted.lo = {out.box.lo.back()};
    wanted.hi = {out.box.hi.back()};
    if (states_[bias].at == ValueState::At::kLiteral) materialise(bias);
    step.bias = root_buffer(bias);
    auto walk = walk_over(bias, wanted);
    if (!walk) return unsupported(instruction, "this rank does not hold all of the bias");
    if (walk->strides[0] != 1 && step.n > 1) {
      step.bias = materialise(bias);
      walk = walk_over(bias, wanted);
    }
    step.bias_offset = walk->offset;
  }
  const uint32_t last = absorb_epilogues(instruction, step);
  step.d = dense_matrix(buffer_for(last), step.batch, step.m, step.n);
  set_memory(last, step.d.buffer);
  join_batch(step);
  emit_product(std::move(step), flops_of(instruction), plan_);
  return {};
}

// Fuses the ops after the product, as long as nothing else reads the intermediate value.
uint32_t Planner::absorb_epilogues(const Instruction& product, ProductStep& step) {
  uint32_t value = product.results[0].index;
  if (step.dtype != DType::kF32 && !is_16_bit_float(step.dtype)) return value;
  while (readers_.of(value).size() == 1 && !readers_.is_returned(value)) {
    const Instruction& next = *readers_.of(value)[0];
    if (placement(next.results[0]).box != placement(value).box) break;
    if (!absorb(next, value, step)) break;
    absorbed_.insert(&next);
    value = next.results[0].index;
  }
  return value;
}

bool Planner::absorb(const Instruction& next, uint32_t value, ProductStep& step) {
  using Activation = ProductStep::Activation;
  const CudaOp& op = cuda_op(next.kind);
  if (op.epilogue == nullptr || step.activation != Activation::kNone) return false;
  const bool may_skip_rounding = options_.epilogues == CompilerOptions::Epilogues::kFused;
  switch (op.epilogue(next)) {
    case CudaOp::Epilogue::kNone:
      return false;
    case CudaOp::Epilogue::kRelu:
      step.activation = Activation::kRelu;
      return true;
    case CudaOp::Epilogue::kGelu:
      // The tanh in cuBLASLt is accurate to about 11 bits.
      if (!is_16_bit_float(step.dtype) || step.dtype == DType::kF16 || !may_skip_rounding)
        return false;
      step.activation = Activation::kGelu;
      return true;
    case CudaOp::Epilogue::kAdd:
      return may_skip_rounding && absorb_sum(next, value, step);
  }
  return false;
}

bool Planner::absorb_sum(const Instruction& next, uint32_t value, ProductStep& step) {
  const uint32_t other = next.operands[next.operands[0].value.index == value ? 1 : 0].value.index;
  const Box& box = placement(next.results[0]).box;
  using At = ValueState::At;
  if (other == value || states_[other].at == At::kNowhere || states_[other].at == At::kLiteral) {
    return false;
  }
  auto walk = walk_over(other, box);
  if (!walk || walk->strides.empty() || (walk->strides.back() != 1 && step.n > 1)) return false;
  const size_t rank = walk->strides.size();
  bool is_row = true;
  for (size_t d = 0; d + 1 < rank; ++d) is_row &= walk->strides[d] == 0 || box.extents()[d] == 1;
  if (is_row) {
    if (step.bias >= 0 || step.c.buffer >= 0 || (step.n == 1 && box.volume() > 1)) return false;
    step.bias = root_buffer(other);
    step.bias_offset = walk->offset;
    return true;
  }
  const int64_t row_stride = rank < 2 || step.m == 1 ? step.n : walk->strides[rank - 2];
  if (step.c.buffer >= 0 || row_stride < step.n) return false;
  step.c = {root_buffer(other), walk->offset, {}, row_stride, 1};
  for (size_t d = 0; d + 2 < rank; ++d) step.c.batch_strides.push_back(walk->strides[d]);
  return true;
}

}  // namespace hostir::cuda
