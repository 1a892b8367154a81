#include "hostir/ops/triangle.h"

namespace hostir {

namespace {

ops::Values expand_triu(ops::Builder& b) { return ops::triangle(b, "le"); }

}  // namespace

OpRecord op_triu() {
  OpRecord op = ops::triangle_record("triu_c1");
  op.mnemonic = "triu";
  op.summary = "The elements on and above a diagonal of matrices; the others are 0.";
  op.results = {{.name = "y", .doc = "x[.., i, j] where j - i >= diagonal, else 0"}};
  op.expand = expand_triu;
  op.gradient = "dx = triu dy with the same diagonal";
  op.example = R"(fusion @f(%x: tensor<3x4xf32>) -> (%y: tensor<3x4xf32>) {
  %y = triu %x {diagonal = 1}
  return %y
})";
  op.source = "torch.triu, numpy.triu";
  return op;
}

}  // namespace hostir
