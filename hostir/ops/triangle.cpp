#include "hostir/ops/triangle.h"

#include <fmt/core.h>

namespace hostir::ops {

namespace {

Violated check_matrices(const OpCall& call) {
  const size_t rank = shape_of(call.operands[0]).size();
  if (rank >= 2) return std::nullopt;
  return Violation{fmt::format("{} of a tensor with {} dimension{}", record(call.kind).mnemonic,
                               rank, rank == 1 ? "" : "s"),
                   0};
}

// The gradient keeps the same elements.
Values triangle_vjp(Builder& b, std::span<const ValueId> dy) {
  return {b.op(b.call().kind, {dy[0]}, b.attributes())};
}

}  // namespace

OpRecord triangle_record(std::string_view constraint) {
  return {
      .shape = OpShape::kComposite,
      .doc = {.shapes = "[.., M, N]; the result has the same shape.",
              .sharding = "All dimensions pass through: each rank knows which rows and columns it "
                          "has. Linear: a partial sum stays partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the matrices", .partial = kLinear}},
      .attributes = {{.name = "diagonal",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "0: the main diagonal; 1: the one above it",
                      .fallback = Attribute(int64_t{0})}},
      .constraints = {{constraint, "The operand has two dimensions or more.", check_matrices}},
      .infer = infer_like_first,
      .cost = pointwise_cost<0>,
      .vjp = triangle_vjp,
  };
}

Values triangle(Builder& b, std::string_view direction) {
  const ValueId x = b.arg(0);
  const Shape shape = b.shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const ValueId row = b.iota(DType::kI64, shape, rank - 2);
  const ValueId column = b.iota(DType::kI64, shape, rank - 1);
  const auto diagonal = static_cast<double>(b.attributes().get_or<int64_t>("diagonal", 0));
  const ValueId inside = b.compare(b.shifted(row, diagonal), column, direction);
  return {b.select(inside, x, b.zeros_like(x))};
}

}  // namespace hostir::ops
