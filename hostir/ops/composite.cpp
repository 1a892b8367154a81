#include "hostir/ops/composite.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::ops {

IntList normalised_dims(const Attributes& attributes, size_t rank) {
  return attributes.get_or<IntList>("dims", IntList{static_cast<int64_t>(rank) - 1});
}

Violated check_normalised_dims(const OpCall& call) {
  const size_t rank = shape_of(call.operands[0]).size();
  const IntList dims = normalised_dims(call.attributes, rank);
  if (!std::is_sorted(dims.begin(), dims.end())) {
    return Violation{fmt::format("dims of {} are not in order", record(call.kind).mnemonic)};
  }
  return check_dims(dims, rank, fmt::format("{}", record(call.kind).mnemonic));
}

Violated check_affine(const OpCall& call, size_t operand) {
  if (operand >= call.operands.size() || check_normalised_dims(call)) return std::nullopt;
  const Shape& x = shape_of(call.operands[0]);
  Shape wanted;
  for (const int64_t d : normalised_dims(call.attributes, x.size())) {
    wanted.push_back(x[static_cast<size_t>(d)]);
  }
  const Shape& given = shape_of(call.operands[operand]);
  if (same_shape(given, wanted) && is_float(dtype_of(call.operands[operand]))) return std::nullopt;
  return Violation{
      fmt::format("operand {} of {} is {}, the normalised dimensions are {}", operand,
                  record(call.kind).mnemonic, to_string(call.operands[operand]), text(wanted)),
      static_cast<int>(operand)};
}

AttributeSpec normalised_dims_attribute() {
  return {.name = "dims",
          .type = AttributeSpec::Type::kInts,
          .doc = "the dimensions that are normalised; the last one if absent"};
}

AttributeSpec epsilon_attribute() {
  return {.name = "eps",
          .type = AttributeSpec::Type::kFloat,
          .doc = "added to the mean of squares before the root",
          .fallback = Attribute(1e-5)};
}

ValueId along_normalised(Builder& b, ValueId weight, const IntList& dims, const Shape& to) {
  return b.broadcast(b.widened(weight), dims, to);
}

ValueId repeated_mean(Builder& b, ValueId x, const IntList& dims) {
  if (b.error() || !x.valid()) return {};
  return b.unreduce(b.reduce(OpKind::reduce_mean, x, dims), dims, b.shape(x));
}

Expected<std::vector<Type>> infer_arg(const OpCall& call) {
  Shape shape = shape_of(call.operands[0]);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(indexed_dim(call)));
  return inferred(tensor(DType::kI32, std::move(shape)));
}

Violated check_searched_dim(const OpCall& call) {
  if (check_indexed_dim(call)) return std::nullopt;  // _c1
  const Shape& shape = shape_of(call.operands[0]);
  const auto dim = static_cast<size_t>(dim_of(call.attributes, "dim", shape.size()));
  if (!same_size(shape[dim], 0)) return std::nullopt;
  return Violation{
      fmt::format("{} along dimension {}, which has no elements", record(call.kind).mnemonic, dim)};
}

Values expand_arg(Builder& b, OpKind extremum) {
  const ValueId x = b.arg(0);
  const int64_t dim = dim_of(b.attributes(), "dim", b.rank(x));
  const IntList dims = {dim};
  const Shape shape = b.shape(x);
  const ValueId best = b.unreduce(b.reduce(extremum, x, dims), dims, shape);
  ValueId found = b.compare(x, best, "eq");
  if (is_float(b.dtype(x))) found = b.op(OpKind::logical_or, {found, b.compare(x, x, "ne")});
  const ValueId places = b.iota(DType::kI32, shape, dim);
  const ValueId none = b.full_size(DType::kI32, shape, shape[static_cast<size_t>(dim)]);
  return {b.reduce(OpKind::reduce_min, b.select(found, places, none), dims)};
}

}  // namespace hostir::ops
