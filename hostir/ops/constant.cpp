#include <fmt/core.h>

#include "hostir/ir/fits.h"
#include "hostir/ops/written.h"

namespace hostir {

namespace {

ops::Violated check_constant_one(const OpCall& call) {
  const int given = int{call.attributes.has("value")} + int{call.attributes.has("data")} +
                    int{call.attributes.has("size")};
  if (given == 1) return std::nullopt;
  return Violation{"constant needs exactly one of the attributes value, size and data"};
}

ops::Violated check_constant_type(const OpCall& call) {
  if (call.attributes.has("data")) return std::nullopt;
  return ops::check_written(call);
}

ops::Violated check_data(const OpCall& call) {
  const auto* data = call.attributes.get<Tensor>("data");
  const TensorType* written = ops::written_tensor(call);
  if (data == nullptr || written == nullptr) return std::nullopt;
  const Shape shape(data->extents.begin(), data->extents.end());
  if (data->dtype == written->dtype && ops::same_shape(shape, written->shape)) return std::nullopt;
  return Violation{fmt::format("the data of constant is {}, the written type {}",
                               shape_to_string(shape, data->dtype),
                               shape_to_string(written->shape, written->dtype))};
}

ops::Violated check_exact(const OpCall& call) {
  const auto* value = call.attributes.get<double>("value");
  const TensorType* written = ops::written_tensor(call);
  if (value == nullptr || written == nullptr) return std::nullopt;
  auto why = why_not_exact(*value, written->dtype);
  return why ? ops::Violated(Violation{std::move(*why)}) : std::nullopt;
}

Expected<std::vector<Type>> infer_constant(const OpCall& call) {
  const auto* data = call.attributes.get<Tensor>("data");
  if (data == nullptr) return ops::infer_written(call);
  return ops::inferred(ops::tensor(data->dtype, Shape(data->extents.begin(), data->extents.end())));
}

}  // namespace

OpRecord op_constant() {
  return {
      .mnemonic = "constant",
      .shape = OpShape::kSource,
      .summary = "A tensor of fixed numbers: one value everywhere, or written element by element.",
      .doc = {.shapes = "With `value` and `size` the written type's, symbolic sizes too; with "
                        "`data` the data's.",
              .sharding = "Any: each rank makes its own box.",
              .dtypes = "Any; floats round `value` to nearest even.",
              .cost = "Writes y once (bytes)."},
      .attributes = {{.name = "value",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the value of every element"},
                     {.name = "size",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the value of every element, as an expression of sizes: ?D * 2"},
                     {.name = "data",
                      .type = AttributeSpec::Type::kTensor,
                      .doc = "all elements, as an inline value"}},
      .results = {{.name = "y", .doc = "the constant"}},
      .constraints = {{"constant_c1", "Exactly one of value, size and data is given.",
                       check_constant_one},
                      {"constant_c2", "With value or size the result type is written.",
                       check_constant_type},
                      {"constant_c3", "Data has the written type.", check_data},
                      {"constant_c4", "An integer dtype holds the value exactly.", check_exact}},
      .infer = infer_constant,
      .rule = ops::source_rule,
      .cost = ops::pointwise_cost<0>,
      .gradient = "none: it has no operands",
      .example = R"(fusion @f() -> (%y: tensor<4xf32>) {
  %y = constant {value = 0.5} : tensor<4xf32>
  return %y
})",
      .source = "StableHLO spec, constant",
  };
}

}  // namespace hostir
