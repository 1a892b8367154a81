#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

bool has_bias(const OpCall& call) { return call.operands.size() > 2; }

ops::Violated check_linear_ranks(const OpCall& call) {
  const size_t x = shape_of(call.operands[0]).size();
  const size_t w = shape_of(call.operands[1]).size();
  if (x < 1) return Violation{"the input of linear is a scalar, it needs a last dimension", 0};
  if (w != 2) return Violation{fmt::format("the weight of linear has rank {}, not 2", w), 1};
  return std::nullopt;
}

ops::Violated check_linear_contraction(const OpCall& call) {
  const Shape& x = shape_of(call.operands[0]);
  const Shape& w = shape_of(call.operands[1]);
  if (x.empty() || w.size() != 2) return std::nullopt;  // linear_c1
  if (ops::same_size(x.back(), w[1])) return std::nullopt;
  const bool swapped = ops::same_size(x.back(), w[0]);
  return Violation{
      fmt::format("linear contracts inputs of {} features with a weight of {}{}",
                  x.back().to_string(), w[1].to_string(),
                  swapped ? "; its weight is [out, in]: transpose it, or use matmul, which takes "
                            "[in, out]"
                          : ""),
      1};
}

ops::Violated check_bias(const OpCall& call) {
  const Shape& w = shape_of(call.operands[1]);
  if (!has_bias(call) || w.size() != 2) return std::nullopt;
  const Shape& bias = shape_of(call.operands[2]);
  if (bias.size() == 1 && ops::same_size(bias[0], w[0])) return std::nullopt;
  return Violation{fmt::format("the bias of linear is {}, the weight has {} outputs",
                               ops::text(bias), w[0].to_string()),
                   2};
}

Type result_type(const Type& x, const Type& w) {
  Shape shape = shape_of(x);
  shape.back() = shape_of(w)[0];
  return ops::tensor(dtype_of(x), std::move(shape));
}

Expected<std::vector<Type>> infer_linear(const OpCall& call) {
  return ops::inferred(result_type(call.operands[0], call.operands[1]));
}

// The factors, in order: the leading dimensions of x, the outputs, the contraction.
Expected<ShardingRule> linear_rule(const OpCall& call, std::span<const Type>) {
  const Shape& x = shape_of(call.operands[0]);
  const size_t leading = x.size() - 1;
  const int n = static_cast<int>(leading);
  const int k = n + 1;
  ShardingRule r;
  r.factor_sizes.assign(x.begin(), x.end() - 1);
  r.factor_sizes.push_back(shape_of(call.operands[1])[0]);
  r.factor_sizes.push_back(x.back());
  r.reduction = {k};
  auto input = ops::one_to_one(0, leading);
  auto result = input;
  input.push_back({k});
  result.push_back({n});
  r.operands = {input, {{n}, {k}}};
  if (has_bias(call)) r.operands.push_back({{n}});
  r.results = {result};
  return r;
}

// With a bias the op is not linear: it is expanded, or partial operands are reduced first.
PartialUse linear_partial(const OpCall& call, size_t operand, Reduction kind) {
  const bool linear = !has_bias(call) && operand < 2 && kind == Reduction::kSum;
  return linear ? PartialUse::kOthersWhole : PartialUse::kReduceFirst;
}

bool linear_needs_expand(const OpCall& call) { return has_bias(call); }

// A linear without bias, then an add of the bias. A reduce can go between, so the bias is added
// once.
ops::Values expand_linear(ops::Builder& b) {
  const ValueId product = b.op(OpKind::linear, {b.arg(0), b.arg(1)}, {}, "product");
  if (!b.has_arg(2)) return {product};
  return {b.add(product, b.broadcast_to(b.arg(2), b.shape(product)))};
}

// dx = dy w. dw = dy^T x and dbias = sum of dy, both over all leading dimensions.
ops::Values linear_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const IntList leading = ops::all_dims(b.rank(b.arg(0)) - 1);
  const ValueId dx =
      leading.empty()
          ? b.op(OpKind::dot_general, {dy[0], b.arg(1)},
                 ops::attrs({{"lhs_contracting", IntList{0}}, {"rhs_contracting", IntList{0}}}),
                 "dx")
          : b.op(OpKind::matmul, {dy[0], b.arg(1)}, {}, "dx");
  ops::Values out = {
      dx, b.op(OpKind::dot_general, {dy[0], b.arg(0)},
               ops::attrs({{"lhs_contracting", leading}, {"rhs_contracting", leading}}), "dw")};
  if (b.has_arg(2)) out.push_back(b.sum(dy[0], leading));
  return out;
}

Cost linear_cost(const OpCall& call, std::span<const Extents> operands,
                 std::span<const Extents> results) {
  const double contraction = static_cast<double>(operands[0].back());
  const double outputs = ops::element_count_of(results[0]);
  return ops::memory_cost(call, operands, results,
                          2 * outputs * contraction + (operands.size() > 2 ? outputs : 0));
}

}  // namespace

OpRecord op_linear() {
  return {
      .mnemonic = "linear",
      .shape = OpShape::kContraction,
      .summary = "A linear layer: x times the transposed weight, plus a bias.",
      .doc = {.shapes = "x [.., K], w [N, K], bias [N] (may be absent); y [.., N].",
              .sharding =
                  "Leading dimensions and N pass through. A cut K leaves a partial sum; the bias "
                  "is then added once, after the reduce. Without bias linear in x and in w.",
              .dtypes =
                  "All but i1, the same for all. 16- and 8-bit floats are accumulated in f32, bias "
                  "included, and "
                  "rounded once; integers wrap.",
              .cost =
                  "2 * N * K flops per leading element, one more per output with a bias; reads all "
                  "operands and writes y once (bytes)."},
      .operands = {{.name = "x", .doc = "the input, [.., K]", .partial = ops::kLinear},
                   {.name = "w", .doc = "the weight, [N, K]", .partial = ops::kLinear},
                   {.name = "bias",
                    .doc = "added to each row, [N]",
                    .arity = OperandSpec::Arity::kOptional}},
      .results = {{.name = "y", .doc = "[.., N]"}},
      .constraints = {{"linear_c1", "x has rank 1 or more, w has rank 2.", check_linear_ranks},
                      {"linear_c2", "The last sizes of x and w are equal.",
                       check_linear_contraction},
                      {"linear_c3", "The bias is [N].", check_bias},
                      {"linear_c4", ops::kSameDType, ops::check_same_dtype},
                      {"linear_c5", ops::kNumeric, ops::check_numeric}},
      .infer = infer_linear,
      .rule = linear_rule,
      .partial = linear_partial,
      .expand = expand_linear,
      .needs_expand = linear_needs_expand,
      .cost = linear_cost,
      .gradient = "dx = dy w, dw = dy^T x, dbias = dy summed over the leading dimensions",
      .vjp = linear_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>)
    -> (%y: tensor<2x4xf32>) {
  %y = linear %x, %w, %b
  return %y
})",
      .source = "torch.nn.functional.linear; bias after the reduce as torch's RowwiseParallel",
  };
}

}  // namespace hostir
