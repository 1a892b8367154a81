#include "hostir/ops/composite.h"

namespace hostir {

namespace {

ops::Violated check_classes(const OpCall& call) { return ops::check_index_dtype(call, 0); }

Shape wide_shape(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape.push_back(call.attributes.get_or<IndexExpr>("classes", IndexExpr(0)));
  return shape;
}

Expected<std::vector<Type>> infer_one_hot(const OpCall& call) {
  const auto dtype = call.attributes.get_or<DType>("dtype", DType::kF32);
  return ops::inferred(ops::tensor(dtype, wide_shape(call)));
}

ops::Values expand_one_hot(ops::Builder& b) {
  const ValueId ids = b.arg(0);
  Shape wide = b.shape(ids);
  wide.push_back(b.attributes().get_or<IndexExpr>("classes", IndexExpr(0)));
  const auto rank = static_cast<int64_t>(wide.size());
  const ValueId places = b.iota(b.dtype(ids), wide, rank - 1);
  const ValueId same = b.compare(places, b.unreduce(ids, {rank - 1}, wide), "eq");
  const auto dtype = b.attributes().get_or<DType>("dtype", DType::kF32);
  return {b.cast(same, dtype)};
}

}  // namespace

OpRecord op_one_hot() {
  return {
      .mnemonic = "one_hot",
      .shape = OpShape::kComposite,
      .summary = "1 at the class that an index names, 0 at the others.",
      .doc = {.shapes = "indices [i..] give [i.., classes].",
              .sharding = "The dimensions of the indices pass through; the classes may be cut.",
              .dtypes = "Indices of any integer; an index outside 0..classes-1 gives zeros.",
              .cost = "Reads the indices and writes y once (bytes); 2 flops per element of y."},
      .operands = {{.name = "indices", .doc = "the classes"}},
      .attributes = {{.name = "classes",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "how many classes there are",
                      .required = true},
                     {.name = "dtype",
                      .type = AttributeSpec::Type::kDType,
                      .doc = "the dtype of the result",
                      .fallback = Attribute(DType::kF32)}},
      .results = {{.name = "y", .doc = "y[i, c] = 1 where indices[i] == c"}},
      .constraints = {{"one_hot_c1", ops::kIndexDType, check_classes}},
      .infer = infer_one_hot,
      .expand = expand_one_hot,
      .cost = ops::composite_cost<2>,
      .gradient = "none: integers have no derivative",
      .example = R"(fusion @f(%ids: tensor<3xi32>) -> (%y: tensor<3x5xf32>) {
  %y = one_hot %ids {classes = 5}
  return %y
})",
      .source = "torch.nn.functional.one_hot, jax.nn.one_hot",
  };
}

}  // namespace hostir
