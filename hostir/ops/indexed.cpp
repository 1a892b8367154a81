#include "hostir/ops/indexed.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::ops {

size_t indexed_dim(const OpCall& call, size_t operand) {
  return static_cast<size_t>(
      dim_of(call.attributes, "dim", shape_of(call.operands[operand]).size()));
}

Violated check_indexed_dim(const OpCall& call) {
  const auto rank = static_cast<int64_t>(shape_of(call.operands[0]).size());
  const int64_t dim = call.attributes.get_or<int64_t>("dim", -1);
  if (dim >= -rank && dim < rank) return std::nullopt;
  return Violation{fmt::format("{} along dimension {} of a tensor with {} dimensions",
                               record(call.kind).mnemonic, dim, rank)};
}

Violated check_index_dtype(const OpCall& call, size_t operand) {
  const DType dtype = dtype_of(call.operands[operand]);
  if (is_integer(dtype)) return std::nullopt;
  return Violation{fmt::format("the indices of {} are {}, not integers", record(call.kind).mnemonic,
                               name(dtype)),
                   static_cast<int>(operand)};
}

Violated check_along(const OpCall& call, const Shape& other, size_t operand) {
  const Shape& indices = shape_of(call.operands[operand]);
  const size_t dim = indexed_dim(call);
  bool same = indices.size() == other.size();
  for (size_t d = 0; same && d < indices.size(); ++d) {
    same = d == dim || same_size(indices[d], other[d]);
  }
  if (same) return std::nullopt;
  return Violation{fmt::format("{} along dimension {}: the indices are {}, the operand is {}",
                               record(call.kind).mnemonic, dim, text(indices), text(other)),
                   static_cast<int>(operand)};
}

AttributeSpec dim_attribute(std::string_view doc, bool required) {
  AttributeSpec spec{.name = "dim", .type = AttributeSpec::Type::kInt, .doc = doc};
  spec.required = required;
  if (!required) spec.fallback = Attribute(int64_t{-1});
  return spec;
}

ValueId in_blocks(Builder& b, ValueId x, int64_t dim, int64_t parts, double fill) {
  if (b.error()) return x;
  Shape shape = b.shape(x);
  const auto d = static_cast<size_t>(dim);
  const int64_t size = shape[d].simplified().value();
  const int64_t block = std::max<int64_t>(1, (size + parts - 1) / parts);
  if (parts * block != size) {
    ExprList low(shape.size(), 0);
    ExprList high = low;
    high[d] = parts * block - size;
    x = b.op(OpKind::pad, {x}, attrs({{"low", low}, {"high", high}, {"value", fill}}));
  }
  shape[d] = parts;
  shape.insert(shape.begin() + dim + 1, block);
  return b.reshape(x, shape);
}

ValueId out_of_blocks(Builder& b, ValueId x, int64_t dim, const IndexExpr& size) {
  if (b.error()) return x;
  Shape shape = b.shape(x);
  const auto d = static_cast<size_t>(dim);
  const IndexExpr all =
      IndexExpr::binary(IndexExpr::Kind::kMul, shape[d], shape[d + 1]).simplified();
  shape.erase(shape.begin() + dim);
  shape[d] = all;
  const ValueId flat = b.reshape(x, shape);
  return same_size(all, size) ? flat : b.slice_dim(flat, dim, 0, size);
}

std::vector<AttributeSpec> put_attributes() {
  return {dim_attribute("the dimension of the result that is indexed", true),
          {.name = "size",
           .type = AttributeSpec::Type::kExpr,
           .doc = "the size of that dimension; needed without base"},
          {.name = "mode",
           .type = AttributeSpec::Type::kKeyword,
           .doc = "add: elements with one index add up; set: the last one in row-major order stays",
           .fallback = Attribute(Keyword{"add"}),
           .keywords = {"add", "set"}}};
}

bool adds(const OpCall& call) {
  const auto* mode = call.attributes.get<Keyword>("mode");
  return mode == nullptr || mode->word == "add";
}

bool put_has_base(const OpCall& call) { return call.operands.size() > 2; }

Violated check_put_indices(const OpCall& call) { return check_index_dtype(call, 1); }

Violated check_put_base(const OpCall& call, const Shape& wanted) {
  const std::string_view op = record(call.kind).mnemonic;
  if (!put_has_base(call)) {
    if (call.attributes.has("size")) return std::nullopt;
    return Violation{
        fmt::format("{} without a base needs the attribute size, the result's size along dim", op)};
  }
  if (same_shape(shape_of(call.operands[2]), wanted) &&
      dtype_of(call.operands[2]) == dtype_of(call.operands[0])) {
    return std::nullopt;
  }
  return Violation{fmt::format("the base of {} is {}, but the updates need {}", op,
                               to_string(call.operands[2]), text(wanted)),
                   2};
}

IndexExpr interior_elements(const IndexExpr& size, int64_t interior) {
  const IndexExpr gaps = IndexExpr::binary(IndexExpr::Kind::kMax,
                                           IndexExpr::binary(IndexExpr::Kind::kSub, size, 1), 0);
  return IndexExpr::binary(IndexExpr::Kind::kMul, gaps, interior);
}

PartialUse put_partial(const OpCall& call, size_t operand, Reduction kind) {
  const bool linear = adds(call) && !put_has_base(call) && operand == 0 && kind == Reduction::kSum;
  return linear ? PartialUse::kOthersWhole : PartialUse::kReduceFirst;
}

Values expand_put_base(Builder& b, OpKind kind, int64_t dim) {
  Attributes attributes = b.attributes();
  if (!b.has_arg(2)) return {b.op(kind, {b.arg(0), b.arg(1)}, std::move(attributes))};
  attributes.set("size", b.shape(b.arg(2))[static_cast<size_t>(dim)]);
  return {b.add(b.op(kind, {b.arg(0), b.arg(1)}, std::move(attributes)), b.arg(2))};
}

}  // namespace hostir::ops
