// Applies ops to types without text: helpers shared by the tests of hostir/ops.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir::test {

inline Type tensor(Shape shape, DType dtype = DType::kF32) {
  return TensorType{.dtype = dtype, .shape = std::move(shape), .sharding = std::nullopt};
}

inline Attributes attributes(std::vector<std::pair<std::string, Attribute>> entries) {
  Attributes result;
  for (auto& [name, value] : entries) result.set(name, std::move(value));
  return result;
}

/// One op applied to types; owns its operands.
struct Applied {
  OpKind kind = OpKind::add;
  std::vector<Type> operands;
  Attributes given = {};
  std::vector<Type> written = {};

  OpCall call() const {
    return {.kind = kind, .operands = operands, .attributes = given, .written = written};
  }
  /// The id of the first broken constraint, or "".
  std::string broken() const {
    for (const Constraint& c : record(kind).constraints) {
      if (c.check != nullptr && c.check(call())) return std::string(c.id);
    }
    return "";
  }
  /// The result type as text, or the error's id.
  std::string inferred() const {
    const auto types = record(kind).infer(call());
    return types ? to_string(types->front()) : types.error().diagnostics.front().id;
  }
  /// The sharding rule as text.
  std::string rule() const {
    const auto types = record(kind).infer(call());
    if (!types) return types.error().message();
    const auto rule = record(kind).rule(call(), *types);
    return rule ? rule->to_string() : rule.error().message();
  }
};

}  // namespace hostir::test
