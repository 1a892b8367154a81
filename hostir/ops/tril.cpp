#include "hostir/ops/triangle.h"

namespace hostir {

namespace {

ops::Values expand_tril(ops::Builder& b) { return ops::triangle(b, "ge"); }

}  // namespace

OpRecord op_tril() {
  OpRecord op = ops::triangle_record("tril_c1");
  op.mnemonic = "tril";
  op.summary = "The elements on and below a diagonal of matrices; the others are 0.";
  op.results = {{.name = "y", .doc = "x[.., i, j] where j - i <= diagonal, else 0"}};
  op.expand = expand_tril;
  op.gradient = "dx = tril dy with the same diagonal";
  op.example = R"(fusion @f(%x: tensor<3x4xf32>) -> (%y: tensor<3x4xf32>) {
  %y = tril %x {diagonal = 1}
  return %y
})";
  op.source = "torch.tril, numpy.tril";
  return op;
}

}  // namespace hostir
