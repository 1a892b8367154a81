#include "hostir/ops/host.h"

namespace hostir {

namespace {

std::vector<Type> carried(const OpCall& call) { return ops::handed_over(call, *call.instruction); }

Expected<std::vector<Type>> infer_for(const OpCall& call) { return carried(call); }

}  // namespace

OpRecord op_for_() {
  return {
      .mnemonic = "for",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kLoop,
      .summary =
          "Repeats a region for an index from lower to below upper, carrying "
          "values along.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = "Carried buffers keep their layouts.",
              .dtypes = ops::kNoDTypes,
              .errors = "host_c3: the region yields what the loop carries.",
              .cost = "Host issue cost per iteration (ns)."},
      .operands = {{.name = "carry",
                    .doc = "initial values of what is carried; none is a complete event",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "lower",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the first index",
                      .required = true},
                     {.name = "upper",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the index before which it ends",
                      .required = true}},
      .results = {{.name = "carried",
                   .doc = "what the last iteration yields, or the initial values"}},
      .infer = infer_for,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  %e = for %i in 0..3 carry(%p = none) {
    wait %p on %s
    %q = launch @double ro(%a) wo(%b) on %s
    yield %q
  }
  wait %e on host
  return %b
})",
      .source = "MLIR's scf.for",
      .assembly = "&index in #lower..#upper <carry(&=$carry)> region",
  };
}

}  // namespace hostir
