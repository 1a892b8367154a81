#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_where_one(const OpCall& call) {
  if (call.attributes.has("condition") != call.attributes.has("mesh")) return std::nullopt;
  return Violation{"where takes either a condition or `in @mesh`"};
}

std::vector<Type> yielded(const OpCall& call, size_t region) {
  const Instruction* yield = ops::closing_yield(call, region);
  return yield != nullptr ? ops::handed_over(call, *yield) : std::vector<Type>{};
}

Expected<std::vector<Type>> infer_where(const OpCall& call) {
  return call.function != nullptr ? yielded(call, 0) : std::vector<Type>{};
}

}  // namespace

OpRecord op_where() {
  return {
      .mnemonic = "where",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kBranch,
      .summary =
          "Runs one region on the ranks where a condition holds, another one "
          "elsewhere.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = "Buffers yielded from both regions have the same type.",
              .dtypes = ops::kNoDTypes,
              .errors = "host_c4: both regions yield the same types.",
              .cost = ops::kStreamCost},
      .attributes = {{.name = "condition",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "holds on ranks where it is not 0"},
                     {.name = "mesh",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "holds on the ranks of this mesh"}},
      .results = {{.name = "values", .doc = "the values that the executed region yields"}},
      .constraints = {{"where_c1", "Exactly one of a condition and a mesh is given.",
                       check_where_one}},
      .infer = infer_where,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  where coord(x) == 0 {
    launch @double ro(%a) wo(%b) on %s
  } else {
    launch @double ro(%a) wo(%b) on %s
  }
  return %b
})",
      .source = "MLIR's scf.if; conditions on coordinates as SPMD programs have",
      .assembly = "<in #mesh> <#condition> region <else region>",
  };
}

}  // namespace hostir
