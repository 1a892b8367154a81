#include <fmt/core.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

// The target: the attribute `to`, else the sharding of the written result type.
const Sharding* target(const OpCall& call) {
  if (const auto* to = call.attributes.get<Sharding>("to")) return to;
  const TensorType* written = ops::written_tensor(call);
  return written != nullptr && written->sharding ? &*written->sharding : nullptr;
}

ops::Violated check_target(const OpCall& call) {
  if (target(call) != nullptr) return std::nullopt;
  return Violation{
      "reshard needs a sharding: the attribute `to`, or a written result type with one"};
}

ops::Violated check_rank(const OpCall& call) {
  const Sharding* to = target(call);
  const size_t rank = shape_of(call.operands[0]).size();
  if (to == nullptr || to->dims.size() == rank) return std::nullopt;
  return Violation{fmt::format("reshard to a sharding of {} dimensions, the tensor has {}",
                               to->dims.size(), rank)};
}

Expected<std::vector<Type>> infer_reshard(const OpCall& call) {
  TensorType type;
  type.dtype = dtype_of(call.operands[0]);
  type.shape = shape_of(call.operands[0]);
  type.sharding = *target(call);
  return ops::inferred(std::move(type));
}

// dy resharded to the sharding of x. On another mesh, the dimensions that are open in x stay open.
// If x has no sharding, dy stays as it is.
ops::Values reshard_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const Sharding* held = sharding_of(b.type(b.arg(0)));
  if (held == nullptr) return {dy[0]};
  Sharding to = *held;
  to.unreduced.clear();
  to.unreduced_kind = Reduction::kSum;
  const Sharding* left = sharding_of(b.type(b.result()));
  if (left == nullptr || left->mesh == to.mesh) {
    for (DimSharding& d : to.dims) d.open = false;
  }
  return {b.op(OpKind::reshard, {dy[0]}, ops::attrs({{"to", std::move(to)}}))};
}

}  // namespace

OpRecord op_reshard() {
  return {
      .mnemonic = "reshard",
      .shape = OpShape::kLayout,
      .summary = "The same tensor under another sharding; becomes collectives.",
      .doc = {.shapes = "Any; the result has the same.",
              .sharding = "From the operand's to the target. Propagation passes through it where a "
                          "dimension is open; the passes insert it where two uses of a value "
                          "disagree.",
              .dtypes = "Any.",
              .cost = "That of the collectives it becomes; no flops."},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kMoved}},
      .attributes = {{.name = "to",
                      .type = AttributeSpec::Type::kSharding,
                      .doc =
                          "the target; may be left out where the result type is written with one"}},
      .results = {{.name = "y", .doc = "x, held as the target says"}},
      .constraints = {{"reshard_c1", "The target is given.", check_target},
                      {"reshard_c2", "The target has the tensor's rank.", check_rank}},
      .infer = infer_reshard,
      .cost = ops::pointwise_cost<0>,
      .gradient = "dx = reshard dy to the sharding of x",
      .vjp = reshard_vjp,
      .example = R"(mesh @m = <x=2>
fusion @f(%x: tensor<4xf32> <@m, [{x}]>) -> (%y: tensor<4xf32> <@m, [{}]>) {
  %y = reshard %x {to = <@m, [{}]>}
  return %y
})",
      .source = "Shardy, sdy.reshard",
  };
}

}  // namespace hostir
