#include "hostir/import/reducer.h"

#include <algorithm>

namespace hostir::importer {

namespace {

std::optional<ReducerKind> kind_of(std::string_view name) {
  if (name == "stablehlo.add") return ReducerKind::kSum;
  if (name == "stablehlo.multiply") return ReducerKind::kProd;
  if (name == "stablehlo.maximum") return ReducerKind::kMax;
  if (name == "stablehlo.minimum") return ReducerKind::kMin;
  if (name == "stablehlo.and") return ReducerKind::kAnd;
  if (name == "stablehlo.or") return ReducerKind::kOr;
  return std::nullopt;
}

}  // namespace

std::optional<ReducerKind> reducer_of(const ModuleFunction&, const ModuleOp& op) {
  if (const Attr* applies = op.find("applies")) return kind_of(applies->text);
  if (op.regions.size() != 1) return std::nullopt;
  ModuleBlock block = op.regions.front();
  if (block.ops.size() == 3 && block.ops[1].name == "sdy.sharding_constraint" &&
      block.ops[1].operands == block.ops[0].results &&
      block.ops[2].operands == block.ops[1].results) {
    block.ops[2].operands = block.ops[0].results;  // on a scalar it says nothing
    block.ops.erase(block.ops.begin() + 1);
  }
  if (block.ops.size() != 2 || block.arguments.size() != 2) return std::nullopt;
  const ModuleOp& body = block.ops.front();
  const bool both = body.operands.size() == 2 && body.results.size() == 1 &&
                    std::find(body.operands.begin(), body.operands.end(), block.arguments[0]) !=
                        body.operands.end() &&
                    std::find(body.operands.begin(), body.operands.end(), block.arguments[1]) !=
                        body.operands.end();
  if (!both || block.ops[1].operands != body.results) return std::nullopt;
  return kind_of(body.name);
}

// jnp.argmax and jnp.argmin compare values (GT or LT), prefer NaN, and among equal values take the
// smaller index.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op) {
  if (op.regions.size() != 1 || op.regions.front().arguments.size() != 4) return std::nullopt;
  const ModuleBlock& block = op.regions.front();
  const auto is_value = [&](ValueNumber v) {
    return v == block.arguments[0] || v == block.arguments[2];
  };
  const auto is_index = [&](ValueNumber v) {
    return v == block.arguments[1] || v == block.arguments[3];
  };
  // The arguments are all left-hand ones, then all right-hand ones: value, index, value, index.
  if (function.type(block.arguments[0]) != function.type(block.arguments[2])) return std::nullopt;
  std::optional<ReducerKind> kind;
  bool smaller_index = false;
  for (const ModuleOp& inner : block.ops) {
    if (inner.name != "stablehlo.compare" || inner.operands.size() != 2) continue;
    std::string_view direction = inner.word("comparison_direction");
    if (direction.empty()) direction = inner.word("word");
    const bool left_first =
        inner.operands[0] == block.arguments[0] || inner.operands[0] == block.arguments[1];
    if (is_value(inner.operands[0]) && is_value(inner.operands[1]) &&
        inner.operands[0] != inner.operands[1] && left_first) {
      if (direction == "GT" || direction == "GE") kind = ReducerKind::kMax;
      if (direction == "LT" || direction == "LE") kind = ReducerKind::kMin;
    }
    if (is_index(inner.operands[0]) && is_index(inner.operands[1]) && left_first)
      smaller_index = direction == "LT";
  }
  return smaller_index ? kind : std::nullopt;
}

OpKind combining_op(ReducerKind kind, bool is_bool) {
  switch (kind) {
    case ReducerKind::kSum:
      return is_bool ? OpKind::logical_or : OpKind::add;
    case ReducerKind::kProd:
      return is_bool ? OpKind::logical_and : OpKind::mul;
    case ReducerKind::kMax:
      return is_bool ? OpKind::logical_or : OpKind::maximum;
    case ReducerKind::kMin:
      return is_bool ? OpKind::logical_and : OpKind::minimum;
    case ReducerKind::kAnd:
      return OpKind::logical_and;
    case ReducerKind::kOr:
      return OpKind::logical_or;
  }
  return OpKind::add;
}

}  // namespace hostir::importer
