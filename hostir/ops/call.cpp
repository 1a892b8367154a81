#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_callee(const OpCall& call) {
  const Function* callee = ops::named_function(call, "callee");
  const bool fits = callee != nullptr && callee->kind == FunctionKind::kHost;
  if (fits && (call.function == nullptr || callee->name != call.function->name))
    return std::nullopt;
  const auto* symbol = call.attributes.get<Symbol>("callee");
  const std::string name = symbol != nullptr ? symbol->name : "";
  return Violation{fits ? fmt::format("@{} calls itself", name)
                        : fmt::format("there is no host function @{}", name)};
}

ops::Violated check_arguments(const OpCall& call) {
  const Function* callee = ops::named_function(call, "callee");
  if (callee == nullptr) return std::nullopt;  // call_c1
  const auto arguments = ops::in_slot(call, "arguments");
  if (arguments.size() != callee->params.size()) {
    return Violation{fmt::format("call of @{} with {} arguments, it has {} parameters",
                                 callee->name, arguments.size(), callee->params.size())};
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& wanted = callee->value(callee->params[i].value).type;
    if (arguments[i].type == nullptr || ops::may_bind(*arguments[i].type, wanted)) continue;
    return Violation{fmt::format("call of @{} passes {} where {} is expected", callee->name,
                                 ops::short_text(*arguments[i].type), ops::short_text(wanted)),
                     static_cast<int>(arguments[i].index)};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_call(const OpCall& call) {
  std::vector<Type> types;
  const Function* callee = ops::named_function(call, "callee");
  if (callee == nullptr) return types;
  for (const ResultDecl& result : callee->results) types.push_back(result.type);
  return types;
}

}  // namespace

OpRecord op_call() {
  return {
      .mnemonic = "call",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kCall,
      .summary = "Runs another host function with these arguments.",
      .doc = {.shapes = "The callee's.",
              .sharding = "The callee's.",
              .dtypes = "The callee's.",
              .cost = ops::kStreamCost},
      .operands = {{.name = "arguments",
                    .doc = "bound to the callee's parameters",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "callee",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "a host function",
                      .required = true}},
      .results = {{.name = "results", .doc = "the results of the callee"}},
      .constraints = {{"call_c1", "The symbol names a host function other than this one.",
                       check_callee},
                      {"call_c2", "There are as many arguments as parameters, of their types.",
                       check_arguments}},
      .infer = infer_call,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @g on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  return %b
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = call @g(%a)
  return %b
})",
      .source = "MLIR's func.call",
      .assembly = "#callee($arguments) <: type>",
  };
}

}  // namespace hostir
