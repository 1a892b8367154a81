#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_one(const OpCall& call) {
  if (call.attributes.has("condition") != call.attributes.has("mesh")) return std::nullopt;
  return Violation{"where needs exactly one of a condition and `in @mesh`"};
}

std::vector<Type> yielded(const OpCall& call, size_t region) {
  const Instruction* yield = ops::closing_yield(call, region);
  return yield != nullptr ? ops::handed_over(call, *yield) : std::vector<Type>{};
}

ops::Violated check_yields(const OpCall& call) {
  if (call.function == nullptr) return std::nullopt;
  const std::vector<Type> a = yielded(call, 0);
  const std::vector<Type> b = yielded(call, 1);
  if (a.size() != b.size()) {
    return Violation{fmt::format("where yields {} values from one region and {} from the other",
                                 a.size(), b.size())};
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::holds_alternative<NoType>(a[i]) || std::holds_alternative<NoType>(b[i])) continue;
    if (ops::may_bind(a[i], b[i])) continue;
    return Violation{fmt::format("where yields {} from one region and {} from the other",
                                 ops::short_text(a[i]), ops::short_text(b[i]))};
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer(const OpCall& call) {
  return call.function != nullptr ? yielded(call, 0) : std::vector<Type>{};
}

}  // namespace

OpRecord op_where() {
  return {
      .mnemonic = "where",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .summary =
          "Runs one region on the ranks where a condition holds, another one "
          "elsewhere.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = "Buffers yielded from both regions have the same type.",
              .dtypes = ops::kNoDTypes,
              .errors = "where_c1: not exactly one of condition and mesh; where_c2: regions "
                        "that yield different types.",
              .cost = ops::kStreamCost},
      .attributes = {{.name = "condition",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "holds where it is not 0"},
                     {.name = "mesh",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "holds on the ranks of this mesh"}},
      .results = {{.name = "values", .doc = "what the region that ran yields"}},
      .constraints = {{"where_c1", "Exactly one of a condition and a mesh is given.", check_one},
                      {"where_c2",
                       "Both regions yield the same types; without else nothing is yielded.",
                       check_yields}},
      .infer = infer,
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
