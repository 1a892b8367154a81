#include "hostir/ops/dot_general.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/builder.h"

namespace hostir {

namespace ops {

DotDims dot_dims(const Attributes& attributes, size_t lhs_rank, size_t rhs_rank) {
  DotDims d;
  d.lhs_batch = attributes.get_or<IntList>("lhs_batch", {});
  d.rhs_batch = attributes.get_or<IntList>("rhs_batch", {});
  d.lhs_contract = attributes.get_or<IntList>("lhs_contracting", {});
  d.rhs_contract = attributes.get_or<IntList>("rhs_contracting", {});
  const auto rest = [](size_t rank, IntList used, const IntList& more) {
    used.insert(used.end(), more.begin(), more.end());
    return other_dims(rank, used);
  };
  d.lhs_free = rest(lhs_rank, d.lhs_batch, d.lhs_contract);
  d.rhs_free = rest(rhs_rank, d.rhs_batch, d.rhs_contract);
  return d;
}

}  // namespace ops

namespace {

using ops::DotDims;

const Shape& lhs_of(const OpCall& call) { return shape_of(call.operands[0]); }
const Shape& rhs_of(const OpCall& call) { return shape_of(call.operands[1]); }

DotDims dims_of_call(const OpCall& call) {
  return ops::dot_dims(call.attributes, lhs_of(call).size(), rhs_of(call).size());
}

ops::Violated check_dot_dims(const OpCall& call) {
  const DotDims d = dims_of_call(call);
  if (d.lhs_batch.size() != d.rhs_batch.size() || d.lhs_contract.size() != d.rhs_contract.size()) {
    return Violation{fmt::format(
        "dot_general pairs {} batch dimensions with {} and {} contracted ones with {}",
        d.lhs_batch.size(), d.rhs_batch.size(), d.lhs_contract.size(), d.rhs_contract.size())};
  }
  const auto check = [](IntList dims, const IntList& more, size_t rank, std::string_view what) {
    dims.insert(dims.end(), more.begin(), more.end());
    return ops::check_dims(dims, rank, what);
  };
  auto left = check(d.lhs_batch, d.lhs_contract, lhs_of(call).size(), "the left of dot_general");
  return left ? left
              : check(d.rhs_batch, d.rhs_contract, rhs_of(call).size(), "the right of dot_general");
}

ops::Violated check_dot_sizes(const OpCall& call) {
  if (check_dot_dims(call)) return std::nullopt;  // dot_general_c1
  const DotDims d = dims_of_call(call);
  const auto differ = [&](const IntList& left, const IntList& right) -> ops::Violated {
    for (size_t i = 0; i < left.size(); ++i) {
      const IndexExpr& a = lhs_of(call)[static_cast<size_t>(left[i])];
      const IndexExpr& b = rhs_of(call)[static_cast<size_t>(right[i])];
      if (ops::same_size(a, b)) continue;
      return Violation{fmt::format("dot_general pairs dimension {} of size {} with dimension {} of "
                                   "size {}",
                                   left[i], a.to_string(), right[i], b.to_string()),
                       1};
    }
    return std::nullopt;
  };
  auto batch = differ(d.lhs_batch, d.rhs_batch);
  return batch ? batch : differ(d.lhs_contract, d.rhs_contract);
}

Expected<std::vector<Type>> infer_dot_general(const OpCall& call) {
  const DotDims d = dims_of_call(call);
  Shape shape;
  for (const int64_t i : d.lhs_batch) shape.push_back(lhs_of(call)[static_cast<size_t>(i)]);
  for (const int64_t i : d.lhs_free) shape.push_back(lhs_of(call)[static_cast<size_t>(i)]);
  for (const int64_t i : d.rhs_free) shape.push_back(rhs_of(call)[static_cast<size_t>(i)]);
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// The factors, in order: batch, free in lhs, free in rhs, contracted.
Expected<ShardingRule> dot_general_rule(const OpCall& call, std::span<const Type>) {
  const DotDims d = dims_of_call(call);
  ShardingRule r;
  r.operands = {ShardingRule::TensorFactors(lhs_of(call).size()),
                ShardingRule::TensorFactors(rhs_of(call).size())};
  r.results.emplace_back();
  const auto add = [&](const Shape& shape, int64_t dim) {
    r.factor_sizes.push_back(shape[static_cast<size_t>(dim)]);
    return r.factor_count() - 1;
  };
  for (size_t i = 0; i < d.lhs_batch.size(); ++i) {
    const int f = add(lhs_of(call), d.lhs_batch[i]);
    r.operands[0][static_cast<size_t>(d.lhs_batch[i])] = {f};
    r.operands[1][static_cast<size_t>(d.rhs_batch[i])] = {f};
    r.results[0].push_back({f});
  }
  for (const int64_t i : d.lhs_free) {
    const int f = add(lhs_of(call), i);
    r.operands[0][static_cast<size_t>(i)] = {f};
    r.results[0].push_back({f});
  }
  for (const int64_t i : d.rhs_free) {
    const int f = add(rhs_of(call), i);
    r.operands[1][static_cast<size_t>(i)] = {f};
    r.results[0].push_back({f});
  }
  for (size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const int f = add(lhs_of(call), d.lhs_contract[i]);
    r.operands[0][static_cast<size_t>(d.lhs_contract[i])] = {f};
    r.operands[1][static_cast<size_t>(d.rhs_contract[i])] = {f};
    r.reduction.push_back(f);
  }
  return r;
}

Cost dot_general_cost(const OpCall& call, std::span<const Extents> operands,
                      std::span<const Extents> results) {
  const DotDims d = dims_of_call(call);
  double contraction = 1;
  for (const int64_t i : d.lhs_contract) {
    contraction *= static_cast<double>(operands[0][static_cast<size_t>(i)]);
  }
  return ops::memory_cost(call, operands, results,
                          2 * ops::element_count_of(results[0]) * contraction);
}

// The gradient of one side: contracts dy with the other side over that side's free dimensions, then
// transposes the result.
struct DotSide {
  ValueId other;
  const IntList& batch;
  const IntList& contract;
  const IntList& free;
  const IntList& other_batch;
  const IntList& other_contract;
  const IntList& other_free;
};

ValueId side_gradient(ops::Builder& b, ValueId dy, const DotSide& s, size_t dy_other_free,
                      bool is_left) {
  const size_t batch = s.batch.size();
  IntList dy_batch = ops::all_dims(batch);
  IntList dy_contract;
  for (size_t i = 0; i < s.other_free.size(); ++i) {
    dy_contract.push_back(static_cast<int64_t>(dy_other_free + i));
  }
  // The product has the batch dimensions, this side's free dimensions (from dy) and the contracted
  // dimensions (from `other`).
  const ValueId product = b.op(OpKind::dot_general, {dy, s.other},
                               ops::attrs({{"lhs_batch", dy_batch},
                                           {"rhs_batch", s.other_batch},
                                           {"lhs_contracting", dy_contract},
                                           {"rhs_contracting", s.other_free}}),
                               is_left ? "dlhs" : "drhs");
  // The contracted dimensions are in the order of the other operand.
  IntList places = s.batch;
  places.insert(places.end(), s.free.begin(), s.free.end());
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < s.contract.size(); ++i) {
    pairs.emplace_back(s.other_contract[i], s.contract[i]);
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [theirs, mine] : pairs) places.push_back(mine);
  IntList permutation(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    permutation[static_cast<size_t>(places[i])] = static_cast<int64_t>(i);
  }
  return b.transpose(product, std::move(permutation));
}

ops::Values dot_general_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const DotDims d = ops::dot_dims(b.attributes(), b.rank(b.arg(0)), b.rank(b.arg(1)));
  const size_t batch = d.lhs_batch.size();
  const DotSide left{b.arg(1),    d.lhs_batch,    d.lhs_contract, d.lhs_free,
                     d.rhs_batch, d.rhs_contract, d.rhs_free};
  const DotSide right{b.arg(0),    d.rhs_batch,    d.rhs_contract, d.rhs_free,
                      d.lhs_batch, d.lhs_contract, d.lhs_free};
  return {side_gradient(b, dy[0], left, batch + d.lhs_free.size(), true),
          side_gradient(b, dy[0], right, batch, false)};
}

AttributeSpec dims_attribute(std::string_view name, std::string_view doc) {
  return {.name = name,
          .type = AttributeSpec::Type::kInts,
          .doc = doc,
          .fallback = Attribute(IntList{})};
}

}  // namespace

OpRecord op_dot_general() {
  return {
      .mnemonic = "dot_general",
      .shape = OpShape::kContraction,
      .summary = "The product of two tensors, summed over any pairs of dimensions.",
      .doc = {.shapes = "The result has the batch dimensions, then the free ones of the left, then "
                        "the free ones of the right.",
              .sharding =
                  "Batch and free dimensions pass through. A cut contracted dimension leaves a "
                  "partial sum. Linear in each operand: one partial sum stays partial.",
              .dtypes = "All but i1, the same for both. 16- and 8-bit floats are accumulated in "
                        "f32 and rounded "
                        "once; integers wrap.",
              .cost = "2 flops per result element and contracted element; reads both operands and "
                      "writes y once (bytes)."},
      .operands = {{.name = "lhs", .doc = "the left operand", .partial = ops::kLinear},
                   {.name = "rhs", .doc = "the right operand", .partial = ops::kLinear}},
      .attributes = {dims_attribute("lhs_batch", "dimensions of the left that stay, pairwise"),
                     dims_attribute("rhs_batch", "the same dimensions of the right"),
                     dims_attribute("lhs_contracting", "dimensions of the left that are summed"),
                     dims_attribute("rhs_contracting", "the same dimensions of the right")},
      .results = {{.name = "y", .doc = "batch, free of the left, free of the right"}},
      .constraints = {{"dot_general_c1",
                       "Batch and contracted dimensions exist, pair up, and appear once.",
                       check_dot_dims},
                      {"dot_general_c2", "Paired dimensions have the same size.", check_dot_sizes},
                      {"dot_general_c3", ops::kSameDType, ops::check_same_dtype},
                      {"dot_general_c4", ops::kNumeric, ops::check_numeric}},
      .infer = infer_dot_general,
      .rule = dot_general_rule,
      .cost = dot_general_cost,
      .gradient = "dlhs = dy times rhs over the free dimensions of rhs, and the same for drhs",
      .vjp = dot_general_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x3x4xf32>, %w: tensor<3x4x5xf32>) -> (%y: tensor<2x5xf32>) {
  %y = dot_general %x, %w {lhs_contracting = [1, 2], rhs_contracting = [0, 1]}
  return %y
})",
      .source = "StableHLO spec, dot_general",
  };
}

}  // namespace hostir
