#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_place(const OpCall& call) {
  if (const ops::Violated inside = ops::check_top_level(call)) {
    return Violation{"return stands at the end of the function, not in a region"};
  }
  return ops::check_last(call);
}

ops::Violated check_values(const OpCall& call) {
  if (call.function == nullptr) return std::nullopt;
  const auto values = ops::in_slot(call, "values");
  const auto& declared = call.function->results;
  if (values.size() != declared.size()) {
    return Violation{fmt::format("@{} returns {} values, {} are declared", call.function->name,
                                 values.size(), declared.size())};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const bool untyped =
        values[i].type == nullptr || std::holds_alternative<NoType>(*values[i].type);
    if (untyped || ops::may_bind(*values[i].type, declared[i].type)) continue;
    return Violation{
        fmt::format("@{} returns {}, declared is {}", call.function->name,
                    ops::short_text(*values[i].type), ops::short_text(declared[i].type)),
        static_cast<int>(values[i].index)};
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_return_() {
  return {
      .mnemonic = "return",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .summary = "Ends a function with its results; waits for nothing.",
      .doc = {.shapes = "Those declared.",
              .sharding = "Those declared; propagation works towards them.",
              .dtypes = "Those declared.",
              .errors = "return_c1: not at the end of the function; return_c2: values that do "
                        "not fit the declared results.",
              .cost = "None: no work."},
      .operands = {{.name = "values",
                    .doc = "the results in order",
                    .arity = OperandSpec::Arity::kVariadic}},
      .constraints = {{"return_c1", "It is the last instruction of the function's body.",
                       check_place},
                      {"return_c2",
                       "There are as many values as declared results, of their dtypes and "
                       "shapes.",
                       check_values}},
      .gradient = ops::kNoHostGradient,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = relu %x
  return %y
})",
      .source = "MLIR's func.return",
      .assembly = "$values",
  };
}

}  // namespace hostir
