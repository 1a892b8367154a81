#include "hostir/ops/reduction.h"

#include <algorithm>

#include "hostir/support/lists.h"

namespace hostir::ops {

namespace {

bool keeps_dims(const OpCall& call) { return call.attributes.get_or<bool>("keep_dims", false); }

bool is_reduced(const IntList& dims, size_t d) { return contains(dims, static_cast<int64_t>(d)); }

}  // namespace

Violated check_reduced_dims(const OpCall& call) {
  return check_dims(dims_of(call, "dims"), shape_of(call.operands[0]).size(),
                    record(call.kind).mnemonic);
}

std::vector<AttributeSpec> reduction_attributes() {
  return {{.name = "dims",
           .type = AttributeSpec::Type::kInts,
           .doc = "the dimensions to reduce",
           .required = true},
          {.name = "keep_dims",
           .type = AttributeSpec::Type::kBool,
           .doc = "keep them with size 1",
           .fallback = Attribute(false)}};
}

Expected<std::vector<Type>> infer_reduction(const OpCall& call) {
  const Shape& from = shape_of(call.operands[0]);
  const IntList dims = dims_of(call, "dims");
  Shape shape;
  for (size_t d = 0; d < from.size(); ++d) {
    if (!is_reduced(dims, d)) {
      shape.push_back(from[d]);
    } else if (keeps_dims(call)) {
      shape.emplace_back(1);
    }
  }
  return inferred(tensor(dtype_of(call.operands[0]), std::move(shape)));
}

Expected<ShardingRule> make_reduction_rule(const OpCall& call, Reduction kind) {
  const Shape& from = shape_of(call.operands[0]);
  const IntList dims = dims_of(call, "dims");
  ShardingRule rule;
  rule.factor_sizes = from;
  rule.reduction_kind = kind;
  rule.operands = {one_to_one(0, from.size())};
  rule.results.emplace_back();
  for (size_t d = 0; d < from.size(); ++d) {
    if (!is_reduced(dims, d)) {
      rule.results[0].push_back({static_cast<int>(d)});
      continue;
    }
    rule.reduction.push_back(static_cast<int>(d));
    if (keeps_dims(call)) {
      rule.results[0].push_back({rule.factor_count()});
      rule.factor_sizes.emplace_back(1);
    }
  }
  return rule;
}

Cost reduction_cost(const OpCall& call, std::span<const Extents> operands,
                    std::span<const Extents> results) {
  return memory_cost(call, operands, results, element_count_of(operands[0]));
}

Values extremum_vjp(Builder& b, std::span<const ValueId> dy) {
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId x = b.arg(0);
  const Shape shape = b.shape(x);
  const ValueId chosen = b.compare(x, b.unreduce(b.result(), dims, shape), "eq");
  const ValueId ties = b.sum(b.cast(chosen, b.dtype(x)), dims);
  const ValueId share = b.div(dy[0], b.reshape(ties, b.shape(dy[0])));
  return {b.select(chosen, b.unreduce(share, dims, shape), b.zeros_like(x))};
}

}  // namespace hostir::ops
