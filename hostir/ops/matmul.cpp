#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

// The number of batch dimensions: all but the last two.
size_t batch_rank(const Shape& shape) { return shape.size() - 2; }

ops::Violated check_matmul_ranks(const OpCall& call) {
  const size_t a = shape_of(call.operands[0]).size();
  const size_t b = shape_of(call.operands[1]).size();
  if (a >= 2 && (b == a || b == 2)) return std::nullopt;
  return Violation{
      fmt::format("matmul of rank {} and rank {}: needs two matrices or batches of them, "
                  "the right one may be a single matrix",
                  a, b),
      a < 2 ? 0 : 1};
}

ops::Violated check_matmul_contraction(const OpCall& call) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  if (a.size() < 2 || b.size() < 2) return std::nullopt;  // matmul_c1
  const IndexExpr& left = a.back();
  const IndexExpr& right = b[b.size() - 2];
  if (ops::same_size(left, right)) return std::nullopt;
  return Violation{
      fmt::format(
          "matmul contracts {} columns with {} rows{}", left.to_string(), right.to_string(),
          ops::same_size(left, b.back())
              ? "; its right operand is [in, out]: transpose it, or use linear, which takes "
                "[out, in]"
              : ""),
      1};
}

ops::Violated check_batch(const OpCall& call) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  if (a.size() != b.size() || a.size() < 3) return std::nullopt;
  for (size_t d = 0; d < batch_rank(a); ++d) {
    if (ops::same_size(a[d], b[d])) continue;
    return Violation{fmt::format("matmul batch dimension {} is {} on the left and {} on the right",
                                 d, a[d].to_string(), b[d].to_string()),
                     1};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_matmul(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape.back() = shape_of(call.operands[1]).back();
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// The factors, in order: batch dimensions, rows, columns, contraction.
Expected<ShardingRule> matmul_rule(const OpCall& call, std::span<const Type>) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  const size_t batch = batch_rank(a);
  const int m = static_cast<int>(batch);
  const int n = m + 1;
  const int k = m + 2;
  ShardingRule r;
  r.factor_sizes.assign(a.begin(), a.end() - 1);
  r.factor_sizes.push_back(b.back());
  r.factor_sizes.push_back(a.back());
  r.reduction = {k};
  const auto shared = ops::one_to_one(0, batch);
  const auto with = [](ShardingRule::TensorFactors dims, int row, int column) {
    dims.push_back({row});
    dims.push_back({column});
    return dims;
  };
  r.operands = {with(shared, m, k), with(batch_rank(b) > 0 ? shared : ops::one_to_one(0, 0), k, n)};
  r.results = {with(shared, m, n)};
  return r;
}

Cost matmul_cost(const OpCall& call, std::span<const Extents> operands,
                 std::span<const Extents> results) {
  const double contraction = static_cast<double>(operands[0].back());
  return ops::memory_cost(call, operands, results,
                          2 * ops::element_count_of(results[0]) * contraction);
}

// da = dy b^T, db = a^T dy. If b is a single matrix, the contraction for db also sums over the
// batch.
ops::Values matmul_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const auto rank = static_cast<int64_t>(b.rank(b.arg(0)));
  const auto right = static_cast<int64_t>(b.rank(b.arg(1)));
  const auto swapped = [](int64_t n) {
    IntList order = ops::all_dims(static_cast<size_t>(n));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return order;
  };
  const ValueId da = b.matmul(dy[0], b.transpose(b.arg(1), swapped(right)));
  if (right == rank) return {da, b.matmul(b.transpose(b.arg(0), swapped(rank)), dy[0])};
  const IntList leading = ops::all_dims(static_cast<size_t>(rank - 1));
  return {da, b.op(OpKind::dot_general, {b.arg(0), dy[0]},
                   ops::attrs({{"lhs_contracting", leading}, {"rhs_contracting", leading}}))};
}

}  // namespace

OpRecord op_matmul() {
  return {
      .mnemonic = "matmul",
      .shape = OpShape::kContraction,
      .summary = "The matrix product of two tensors, batched over leading dimensions.",
      .doc =
          {.shapes =
               "[.., M, K] times [.., K, N] is [.., M, N]; the batch dimensions are equal, or "
               "the right operand is one matrix [K, N].",
           .sharding = "Batch, M and N pass through. A cut K leaves a partial sum. Linear in each "
                       "operand: one partial sum stays partial.",
           .dtypes =
               "All but i1, the same for both. 16- and 8-bit floats are accumulated in f32 and "
               "rounded once; "
               "integers wrap.",
           .cost =
               "2 * M * N * K flops per batch element; reads a and b and writes y once (bytes)."},
      .operands = {{.name = "a", .doc = "[.., M, K]", .partial = ops::kLinear},
                   {.name = "b", .doc = "[.., K, N] or [K, N]", .partial = ops::kLinear}},
      .results = {{.name = "y", .doc = "[.., M, N]"}},
      .constraints = {{"matmul_c1",
                       "Both have rank 2 or more; the right one has rank 2 or the left's.",
                       check_matmul_ranks},
                      {"matmul_c2", "The last size of a equals the second-to-last size of b.",
                       check_matmul_contraction},
                      {"matmul_c3", "Batch dimensions are equal.", check_batch},
                      {"matmul_c4", ops::kSameDType, ops::check_same_dtype},
                      {"matmul_c5", ops::kNumeric, ops::check_numeric}},
      .infer = infer_matmul,
      .rule = matmul_rule,
      .cost = matmul_cost,
      .gradient = "da = dy b^T, db = a^T dy (summed over the batch where b is one matrix)",
      .vjp = matmul_vjp,
      .example = R"(fusion @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (%y: tensor<2x4xf32>) {
  %y = matmul %a, %b
  return %y
})",
      .source = "StableHLO spec, dot_general; sharding rule of Shardy",
  };
}

}  // namespace hostir
