#include "hostir/ops/triangle.h"

namespace hostir {

namespace {

ops::Values expand_tril(ops::Builder& b) { return ops::triangle(b, "ge"); }
ops::Values tril_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  return {b.op(OpKind::tril, {dy[0]}, b.attributes())};
}

}  // namespace

OpRecord op_tril() {
  return {
      .mnemonic = "tril",
      .shape = OpShape::kComposite,
      .summary = "The elements on and below a diagonal of matrices; the others are 0.",
      .doc = {.shapes = "[.., M, N]; the result has the same.",
              .sharding = "All dimensions pass through: each rank knows which rows and columns it "
                          "has. Linear: a partial sum stays partial.",
              .dtypes = "Any.",
              .cost = "Reads x and writes y once (bytes); no flops."},
      .operands = {{.name = "x", .doc = "the matrices", .partial = ops::kLinear}},
      .attributes = {ops::diagonal_attribute()},
      .results = {{.name = "y", .doc = "x[.., i, j] where j - i <= diagonal, else 0"}},
      .constraints = {{"tril_c1", ops::kMatrices, ops::check_matrices}},
      .infer = ops::infer_like_first,
      .expand = expand_tril,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = tril dy with the same diagonal",
      .vjp = tril_vjp,
      .example = R"(fusion @f(%x: tensor<3x4xf32>) -> (%y: tensor<3x4xf32>) {
  %y = tril %x {diagonal = 1}
  return %y
})",
      .source = "torch.tril, numpy.tril",
  };
}

}  // namespace hostir
