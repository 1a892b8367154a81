#include "hostir/ops/written.h"

#include <fmt/core.h>

namespace hostir::ops {

Expected<std::vector<Type>> infer_written(const OpCall& call) {
  const TensorType* written = written_tensor(call);
  if (written == nullptr) {
    return fail(ErrorKind::kInvalid, "op_c5",
                fmt::format("the result type of {} must be written", record(call.kind).mnemonic));
  }
  return inferred(tensor(written->dtype, written->shape));
}

Violated check_written(const OpCall& call) {
  if (written_tensor(call) != nullptr) return std::nullopt;
  return Violation{
      fmt::format("the result type of {0} must be written: `%y = {0} ... : tensor<4xf32>`",
                  record(call.kind).mnemonic)};
}

const Shape* wanted_shape(const OpCall& call) {
  if (const auto* shape = call.attributes.get<ExprList>("shape")) return shape;
  const TensorType* written = written_tensor(call);
  return written != nullptr ? &written->shape : nullptr;
}

Violated check_wanted_shape(const OpCall& call) {
  if (wanted_shape(call) != nullptr) return std::nullopt;
  return Violation{fmt::format("{} needs the attribute shape, or a written result type",
                               record(call.kind).mnemonic)};
}

Expected<ShardingRule> source_rule(const OpCall&, std::span<const Type> results) {
  const Shape& shape = shape_of(results[0]);
  ShardingRule rule;
  rule.factor_sizes = shape;
  rule.results = {one_to_one(0, shape.size())};
  return rule;
}

}  // namespace hostir::ops
