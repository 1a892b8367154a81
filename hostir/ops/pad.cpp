#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/fits.h"
#include "hostir/ops/indexed.h"

namespace hostir {

namespace {

struct Padding {
  ExprList low;
  ExprList high;
  IntList interior;  // all 0 if not given
};

Padding padding_of(const OpCall& call) {
  Padding p;
  p.low = call.attributes.get_or<ExprList>("low", {});
  p.high = call.attributes.get_or<ExprList>("high", {});
  p.interior = call.attributes.get_or<IntList>("interior", IntList(p.low.size(), 0));
  return p;
}

ops::Violated check_counts(const OpCall& call) {
  const Padding p = padding_of(call);
  const size_t rank = shape_of(call.operands[0]).size();
  if (p.low.size() == rank && p.high.size() == rank && p.interior.size() == rank) {
    return std::nullopt;
  }
  return Violation{fmt::format("pad has {} low, {} high and {} interior entries for {} dimensions",
                               p.low.size(), p.high.size(), p.interior.size(), rank)};
}

IndexExpr added(const IndexExpr& a, const IndexExpr& b) {
  return IndexExpr::binary(IndexExpr::Kind::kAdd, a, b);
}

// How many elements are added and cut off at one end.
IndexExpr more(const IndexExpr& amount) { return ops::is_below(amount, 0) ? IndexExpr(0) : amount; }
IndexExpr less(const IndexExpr& amount) {
  return ops::is_below(amount, 0) ? IndexExpr::binary(IndexExpr::Kind::kSub, 0, amount).simplified()
                                  : IndexExpr(0);
}

// The size with the elements between, before anything is added or cut off at the ends.
IndexExpr spread(const Padding& p, const Shape& shape, size_t d) {
  return p.interior[d] > 0 ? added(shape[d], ops::interior_elements(shape[d], p.interior[d]))
                           : shape[d];
}

ops::Violated check_amounts(const OpCall& call) {
  if (check_counts(call)) return std::nullopt;  // pad_c1
  const Padding p = padding_of(call);
  for (size_t d = 0; d < p.low.size(); ++d) {
    if (p.interior[d] < 0) {
      return Violation{
          fmt::format("pad puts {} elements between those of dimension {}; the number "
                      "must not be negative",
                      p.interior[d], d)};
    }
    const IndexExpr all = spread(p, shape_of(call.operands[0]), d);
    if (!ops::is_below(all, added(less(p.low[d]), less(p.high[d])))) continue;
    return Violation{
        fmt::format("pad of dimension {} by {} and {} cuts off more than its {} "
                    "elements",
                    d, p.low[d].to_string(), p.high[d].to_string(), all.simplified().to_string())};
  }
  return std::nullopt;
}

ops::Violated check_value(const OpCall& call) {
  const auto* value = call.attributes.get<double>("value");
  if (value == nullptr) return std::nullopt;
  auto why = why_not_exact(*value, dtype_of(call.operands[0]));
  return why ? ops::Violated(Violation{"pad with a value that no element can have: " + *why})
             : std::nullopt;
}

Expected<std::vector<Type>> infer_pad(const OpCall& call) {
  const Padding p = padding_of(call);
  Shape shape = shape_of(call.operands[0]);
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = added(added(spread(p, shape, d), p.low[d]), p.high[d]).simplified();
  }
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

bool is_untouched(const Padding& p, size_t d) {
  return ops::same_size(p.low[d], 0) && ops::same_size(p.high[d], 0) && p.interior[d] == 0;
}

// A dimension with padding between its elements has separate factors for the operand and the
// result.
Expected<ShardingRule> pad_rule(const OpCall& call, std::span<const Type> results) {
  const Padding p = padding_of(call);
  const Shape& from = shape_of(call.operands[0]);
  ShardingRule r;
  r.factor_sizes = from;
  r.operands = {ops::one_to_one(0, from.size())};
  r.results = r.operands;
  for (size_t d = 0; d < from.size(); ++d) {
    if (is_untouched(p, d)) continue;
    const IndexExpr& padded = shape_of(results[0])[d];
    if (p.interior[d] != 0) {
      r.results[0][d] = {r.factor_count()};
      r.factor_sizes.push_back(padded);
      continue;
    }
    const auto f = static_cast<int>(d);
    if (!ops::is_below(padded, from[d])) r.factor_sizes[d] = padded;
    r.permutation.push_back(f);
    r.shifts.push_back(
        {0, f, f, IndexExpr::binary(IndexExpr::Kind::kSub, 0, p.low[d]).simplified()});
  }
  return r;
}

// If the padding is zero, the sum of padded addends is the padded sum.
PartialUse pad_partial(const OpCall& call, size_t, Reduction kind) {
  const bool zeros = call.attributes.get_or<double>("value", 0) == 0;
  return zeros && kind == Reduction::kSum ? PartialUse::kAnyMix : PartialUse::kReduceFirst;
}

// Elements that were cut off have no part in y: zeros take their places again before the slice.
ops::Values pad_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const Shape& from = b.shape(b.arg(0));
  const ExprList low = b.attributes().get_or<ExprList>("low", {});
  const ExprList high = b.attributes().get_or<ExprList>("high", {});
  const IntList interior = b.attributes().get_or<IntList>("interior", IntList(from.size(), 0));
  ExprList start, limit, zeros_low, zeros_high;
  IntList stride;
  bool cuts_off = false;
  for (size_t d = 0; d < from.size(); ++d) {
    const IndexExpr span = added(from[d], ops::interior_elements(from[d], interior[d]));
    start.push_back(more(low[d]));
    limit.push_back(added(start[d], span).simplified());
    zeros_low.push_back(less(low[d]));
    zeros_high.push_back(less(high[d]));
    cuts_off = cuts_off || !ops::same_size(zeros_low[d], 0) || !ops::same_size(zeros_high[d], 0);
    stride.push_back(interior[d] + 1);
  }
  Attributes attributes = ops::attrs({{"start", start}, {"limit", limit}});
  if (std::any_of(stride.begin(), stride.end(), [](int64_t s) { return s != 1; })) {
    attributes.set("stride", stride);
  }
  const ValueId whole =
      cuts_off ? b.op(OpKind::pad, {dy[0]}, ops::attrs({{"low", zeros_low}, {"high", zeros_high}}))
               : dy[0];
  return {b.op(OpKind::slice, {whole}, std::move(attributes))};
}

}  // namespace

OpRecord op_pad() {
  return {
      .mnemonic = "pad",
      .shape = OpShape::kIndexed,
      .summary = "The tensor with a fixed value added before, after and between its elements.",
      .doc = {.shapes =
                  "Dimension d becomes low + n + (n - 1) * interior + high. A negative low or high "
                  "cuts off as many elements.",
              .sharding =
                  "Dimensions that are not padded pass through. If a padded one is cut, neighbours "
                  "exchange what the result's parts lack; with padding between the elements it is "
                  "gathered. If the padding is zero, a partial sum stays partial.",
              .dtypes = "Any; the value is rounded to the dtype.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {{.name = "low",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "elements before the first, by dimension; negative: cut off",
                      .required = true},
                     {.name = "high",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "elements after the last, by dimension; negative: cut off",
                      .required = true},
                     {.name = "interior",
                      .type = AttributeSpec::Type::kInts,
                      .doc = "elements between two; none if absent"},
                     {.name = "value",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "what is added",
                      .fallback = Attribute(0.0)}},
      .results = {{.name = "y", .doc = "x with a border"}},
      .constraints = {{"pad_c1", "low, high and interior have an entry per dimension.",
                       check_counts},
                      {"pad_c2",
                       "No more elements are cut off than there are; interior is not negative.",
                       check_amounts},
                      {"pad_c3", "An integer dtype holds value exactly.", check_value}},
      .infer = infer_pad,
      .rule = pad_rule,
      .partial = pad_partial,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = the slice of dy that holds x",
      .vjp = pad_vjp,
      .example = R"(fusion @f(%x: tensor<2x3xf32>) -> (%y: tensor<2x6xf32>) {
  %y = pad %x {low = [0, 1], high = [0, 2]}
  return %y
})",
      .source = "StableHLO spec, pad",
  };
}

}  // namespace hostir
