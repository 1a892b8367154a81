#include "hostir/ops/written.h"

namespace hostir {

namespace {

ops::Violated check_iota_dim(const OpCall& call) {
  const TensorType* written = ops::written_tensor(call);
  if (written == nullptr) return std::nullopt;
  const auto dim = call.attributes.get_or<int64_t>("dim", 0);
  return ops::check_dims({dim}, written->shape.size(), "iota");
}

ops::Violated check_iota_dtype(const OpCall& call) {
  const TensorType* written = ops::written_tensor(call);
  if (written == nullptr || written->dtype != DType::kI1) return std::nullopt;
  return Violation{"iota counts in numbers, not i1"};
}

}  // namespace

OpRecord op_iota() {
  return {
      .mnemonic = "iota",
      .shape = OpShape::kSource,
      .summary = "Each element holds its own global index along one dimension.",
      .doc = {.shapes = "The written type's, rank 1 or more.",
              .sharding = "Any: the index is global, and each rank knows its box.",
              .dtypes = "All but i1; indices that do not fit are rounded or wrap.",
              .cost = "Writes y once (bytes)."},
      .attributes = {{.name = "dim",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the dimension whose index is taken",
                      .fallback = Attribute(int64_t{0})}},
      .results = {{.name = "y", .doc = "0, 1, 2, ... along dim"}},
      .constraints = {{"iota_c1", ops::kWritten, ops::check_written},
                      {"iota_c2", "dim is a dimension of the result.", check_iota_dim},
                      {"iota_c3", "The result is not i1.", check_iota_dtype}},
      .infer = ops::infer_written,
      .rule = ops::source_rule,
      .cost = ops::pointwise_cost<1>,
      .gradient = "none: it has no operands",
      .example = R"(fusion @f() -> (%y: tensor<2x4xi32>) {
  %y = iota {dim = 1} : tensor<2x4xi32>
  return %y
})",
      .source = "StableHLO spec, iota",
  };
}

}  // namespace hostir
