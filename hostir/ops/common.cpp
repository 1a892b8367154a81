#include "hostir/ops/common.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::ops {

bool is_below(const IndexExpr& a, const IndexExpr& b) {
  const IndexExpr difference = IndexExpr::binary(IndexExpr::Kind::kSub, a, b).simplified();
  return difference.is_const() && difference.value() < 0;
}

bool same_size(const IndexExpr& a, const IndexExpr& b) { return a.simplified() == b.simplified(); }

bool same_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_size);
}

IndexExpr product(const Shape& shape) {
  IndexExpr result = 1;
  for (const IndexExpr& size : shape) {
    result = IndexExpr::binary(IndexExpr::Kind::kMul, std::move(result), size);
  }
  return result.simplified();
}

std::string text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string out = shape_to_string(shape, DType::kF32);
  return out.substr(0, out.size() - 4);  // without "xf32"
}

Violated check_same_shape(const OpCall& call) {
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const Shape& first = shape_of(call.operands[0]);
    const Shape& other = shape_of(call.operands[i]);
    if (!same_shape(first, other)) {
      return Violation{
          fmt::format("operands of {} have different shapes: {} and {}{}",
                      record(call.kind).mnemonic, text(first), text(other),
                      first.size() == other.size()
                          ? ""
                          : "; shapes align at the last dimension, as in numpy: for another one "
                            "widen the smaller with broadcast_in_dim {dims = [0], shape = [..]}"),
          static_cast<int>(i)};
    }
  }
  return std::nullopt;
}

Violated check_same_dtype(const OpCall& call) {
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const DType first = dtype_of(call.operands[0]);
    const DType other = dtype_of(call.operands[i]);
    if (first != other) {
      return Violation{fmt::format("operands of {} have different dtypes: {} and {}",
                                   record(call.kind).mnemonic, name(first), name(other)),
                       static_cast<int>(i)};
    }
  }
  return std::nullopt;
}

namespace {

Violated unfit(const OpCall& call, size_t operand, std::string_view wanted) {
  return Violation{fmt::format("{} needs {}, not {}", record(call.kind).mnemonic, wanted,
                               name(dtype_of(call.operands[operand]))),
                   static_cast<int>(operand)};
}

}  // namespace

Violated check_float(const OpCall& call) {
  if (is_float(dtype_of(call.operands[0]))) return std::nullopt;
  return unfit(call, 0, "floats");
}

Violated check_numeric(const OpCall& call) {
  if (dtype_of(call.operands[0]) != DType::kI1) return std::nullopt;
  return unfit(call, 0, "numbers");
}

Violated check_signed(const OpCall& call) {
  const DTypeFacts::Kind kind = facts_of(dtype_of(call.operands[0])).kind;
  if (kind == DTypeFacts::Kind::kFloat || kind == DTypeFacts::Kind::kSigned) return std::nullopt;
  return unfit(call, 0, "floats or signed integers");
}

Violated check_integer(const OpCall& call) {
  if (is_integer(dtype_of(call.operands[0]))) return std::nullopt;
  return unfit(call, 0, "integers");
}

Violated check_i1(const OpCall& call) {
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (dtype_of(call.operands[i]) != DType::kI1) return unfit(call, i, "i1");
  }
  return std::nullopt;
}

Type tensor(DType dtype, Shape shape) {
  return TensorType{.dtype = dtype, .shape = std::move(shape), .sharding = std::nullopt};
}

Expected<std::vector<Type>> inferred(Type type) {
  std::vector<Type> types;
  types.push_back(std::move(type));
  return types;
}

Expected<std::vector<Type>> infer_like_first(const OpCall& call) {
  return inferred(tensor(dtype_of(call.operands[0]), shape_of(call.operands[0])));
}

const TensorType* written_tensor(const OpCall& call) {
  return call.written.empty() ? nullptr : std::get_if<TensorType>(&call.written[0]);
}

IntList dims_of(const OpCall& call, std::string_view name) {
  return call.attributes.get_or<IntList>(name, {});
}

Violated check_dims(const IntList& dims, size_t rank, std::string_view what) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(rank)) {
      std::string text =
          fmt::format("{} has dimension {}, the tensor has {} dimensions", what, dims[i], rank);
      if (dims[i] < 0 && rank > 0)
        text += fmt::format(": they count from 0, the last one is {}", rank - 1);
      return Violation{std::move(text)};
    }
    if (std::find(dims.begin(), dims.begin() + static_cast<int64_t>(i), dims[i]) !=
        dims.begin() + static_cast<int64_t>(i)) {
      return Violation{fmt::format("{} has dimension {} twice", what, dims[i])};
    }
  }
  return std::nullopt;
}

ShardingRule::TensorFactors one_to_one(size_t first, size_t rank) {
  ShardingRule::TensorFactors dims;
  for (size_t d = 0; d < rank; ++d) dims.push_back({static_cast<int>(first + d)});
  return dims;
}

Expected<ShardingRule> pointwise_rule(const OpCall& call, std::span<const Type> results) {
  const Shape& shape = shape_of(results[0]);
  ShardingRule rule;
  rule.factor_sizes = shape;
  rule.operands.assign(call.operands.size(), one_to_one(0, shape.size()));
  rule.results.assign(results.size(), one_to_one(0, shape.size()));
  return rule;
}

double element_count_of(const Extents& extents) {
  double count = 1;
  for (const int64_t extent : extents) count *= static_cast<double>(extent);
  return count;
}

Cost memory_cost(const OpCall& call, std::span<const Extents> operands,
                 std::span<const Extents> results, double flops) {
  Cost cost{.flops = flops};
  for (size_t i = 0; i < operands.size(); ++i) {
    cost.read_bytes +=
        element_count_of(operands[i]) * static_cast<double>(size_bytes(dtype_of(call.operands[i])));
  }
  const OpRecord& op = record(call.kind);
  const auto types = op.infer != nullptr ? op.infer(call) : std::vector<Type>{};
  for (size_t i = 0; types && i < results.size() && i < types->size(); ++i) {
    cost.write_bytes +=
        element_count_of(results[i]) * static_cast<double>(size_bytes(dtype_of((*types)[i])));
  }
  return cost;
}

}  // namespace hostir::ops
