#include <fmt/core.h>

#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

// True for the product of rows with the matrices of their groups; else the groups' products of two
// tensors of rows.
bool has_matrices(const OpCall& call) { return shape_of(call.operands[1]).size() == 3; }

ops::Violated check_grouped_shapes(const OpCall& call) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  const Shape& counts = shape_of(call.operands[2]);
  const bool fit = a.size() == 2 && counts.size() == 1 &&
                   (b.size() == 3 ? ops::same_size(a[1], b[1]) && ops::same_size(b[0], counts[0])
                                  : b.size() == 2 && ops::same_size(a[0], b[0]));
  if (fit) return std::nullopt;
  return Violation{fmt::format("grouped_matmul of {}, {} and counts {}: it takes rows [T, K] and "
                               "matrices [E, K, N], or rows [T, K] and [T, N], and counts [E]",
                               ops::text(a), ops::text(b), ops::text(counts)),
                   1};
}

ops::Violated check_grouped_dtypes(const OpCall& call) {
  if (ops::check_float(call)) return Violation{"grouped_matmul multiplies floats", 0};
  if (dtype_of(call.operands[1]) != dtype_of(call.operands[0])) {
    return Violation{
        fmt::format("grouped_matmul of {} and {}; both must have the same dtype",
                    name(dtype_of(call.operands[0])), name(dtype_of(call.operands[1]))),
        1};
  }
  return std::nullopt;
}

ops::Violated check_group_sizes(const OpCall& call) { return ops::check_index_dtype(call, 2); }

Expected<std::vector<Type>> infer_grouped(const OpCall& call) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  Shape shape =
      has_matrices(call) ? Shape{a[0], b[2]} : Shape{shape_of(call.operands[2])[0], a[1], b[1]};
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// Factors t, k, e, n, and that of the counts: every rank needs all counts, to know where groups
// begin.
Expected<ShardingRule> grouped_rule(const OpCall& call, std::span<const Type>) {
  const Shape& a = shape_of(call.operands[0]);
  const Shape& b = shape_of(call.operands[1]);
  const IndexExpr& groups = shape_of(call.operands[2])[0];
  enum : int { t, k, e, n, counts };
  ShardingRule r;
  r.factor_sizes = {a[0], a[1], groups, b.back(), groups};
  r.replicated = {counts};
  if (has_matrices(call)) {
    r.operands = {{{t}, {k}}, {{e}, {k}, {n}}, {{counts}}};
    r.results = {{{t}, {n}}};
    r.reduction = {k, e};
  } else {
    r.operands = {{{t}, {k}}, {{t}, {n}}, {{counts}}};
    r.results = {{{e}, {k}, {n}}};
    r.reduction = {t};
  }
  return r;
}

// A row belongs to one group, so the number of groups does not count.
Cost grouped_cost(const OpCall& call, std::span<const Extents> operands,
                  std::span<const Extents> results) {
  const double rows = static_cast<double>(operands[0][0]);
  const double columns = static_cast<double>(operands[1].back());
  return ops::memory_cost(call, operands, results,
                          2 * rows * static_cast<double>(operands[0][1]) * columns);
}

ops::Values grouped_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const auto product = [&](ValueId rows, ValueId other) {
    return b.op(OpKind::grouped_matmul, {rows, other, b.arg(2)});
  };
  const auto turned = [&](ValueId matrices) { return b.transpose(matrices, {0, 2, 1}); };
  if (b.rank(b.arg(1)) == 3) {
    return {product(dy[0], turned(b.arg(1))), product(b.arg(0), dy[0]), ValueId()};
  }
  return {product(b.arg(1), turned(dy[0])), product(b.arg(0), dy[0]), ValueId()};
}

}  // namespace

OpRecord op_grouped_matmul() {
  return {
      .mnemonic = "grouped_matmul",
      .shape = OpShape::kIndexed,
      .summary = "Rows in groups, each group times a matrix of its own; the group sizes are data.",
      .doc =
          {.shapes = "Rows [T, K], matrices [E, K, N] and counts [E] give [T, N]: the first "
                     "counts[0] rows are group 0, and so on; rows after the last group give 0. "
                     "Rows [T, K] and rows [T, N] give [E, K, N], the sum over a group's rows of "
                     "their outer products (the gradient of the matrices).",
           .sharding =
               "T, K, N and E may be cut; a cut K or E leaves a partial sum, and so does a "
               "cut T in the gradient of the matrices. Every rank has all counts. They are known "
               "only at run time, so no layout sends a row to the rank that has its matrix; "
               "a host program can (tests/programs/moe_by_hand.hir).",
           .dtypes =
               "Floats; 16- and 8-bit ones are accumulated in f32 and rounded once. The counts "
               "are integers.",
           .cost = "2 * T * K * N flops; reads the operands and writes y once (bytes)."},
      .operands = {{.name = "rows", .doc = "[T, K]", .partial = ops::kLinear},
                   {.name = "matrices", .doc = "[E, K, N] or [T, N]", .partial = ops::kLinear},
                   {.name = "counts", .doc = "how many rows each group has"}},
      .results = {{.name = "y", .doc = "[T, N] or [E, K, N]"}},
      .constraints = {{"grouped_matmul_c1", "Rows, matrices and counts fit together.",
                       check_grouped_shapes},
                      {"grouped_matmul_c2", "Rows and matrices are floats of one dtype.",
                       check_grouped_dtypes},
                      {"grouped_matmul_c3", "The counts are integers, not i1.", check_group_sizes}},
      .infer = infer_grouped,
      .rule = grouped_rule,
      .cost = grouped_cost,
      .gradient =
          "d_rows = dy times the matrices transposed, d_matrices = the groups' products of "
          "rows and dy",
      .vjp = grouped_vjp,
      .example =
          R"(fusion @f(%x: tensor<5x3xf32>, %w: tensor<2x3x4xf32>, %counts: tensor<2xi32>) -> (%y: tensor<5x4xf32>) {
  %y = grouped_matmul %x, %w, %counts
  return %y
})",
      .source = "torch._grouped_mm; T. Gale et al., MegaBlocks, 2022",
  };
}

}  // namespace hostir
