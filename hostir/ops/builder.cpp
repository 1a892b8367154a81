#include "hostir/ops/builder.h"

#include <algorithm>

#include "hostir/support/lists.h"

namespace hostir::ops {

namespace {

const Program& no_program() {
  static const Program kEmpty;
  return kEmpty;
}

bool all_valid(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](ValueId v) { return v.valid(); });
}

// The attributes in record order, without those that have their default value: the form that
// parsing the printed text gives.
Attributes normalised_attributes(OpKind kind, const Attributes& given) {
  Attributes out;
  for (const AttributeSpec& spec : record(kind).attributes) {
    const Attribute* value = given.find(spec.name);
    if (value != nullptr && !(spec.fallback && *spec.fallback == *value))
      out.set(spec.name, *value);
  }
  return out;
}

}  // namespace

Builder::Builder(Function& function, RegionId region, Fresh fresh, const Program* program)
    : function_(function),
      program_(program != nullptr ? *program : no_program()),
      region_(region),
      fresh_(std::move(fresh)) {}

void Builder::begin(const Instruction& call, std::string stem) {
  call_ = call;
  stem_ = std::move(stem);
}

void Builder::annotate(ValueId value, Sharding sharding) {
  if (value.valid())
    std::get<TensorType>(function_.value(value).type).sharding = std::move(sharding);
}

void Builder::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Values Builder::ops(OpKind kind, const Values& operands, const Attributes& attributes, size_t count,
                    std::string_view suffix) {
  Values results(count);
  if (error_ || !all_valid(operands)) return results;
  Instruction instruction;
  instruction.kind = kind;
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand operand;
    operand.value = operands[i];
    operand.slot = static_cast<uint8_t>(slot_of(record(kind), i));
    operand.span = call_.name_span;
    instruction.operands.push_back(std::move(operand));
  }
  instruction.attributes = normalised_attributes(kind, attributes);
  instruction.from = call_.from;
  instruction.span = call_.span;
  instruction.name_span = call_.name_span;
  auto types = check_and_infer(program_, function_, instruction);
  if (!types) {
    fail(std::move(types.error()));
    return results;
  }
  const std::string end(suffix.empty() ? record(kind).mnemonic : suffix);
  for (size_t r = 0; r < count; ++r) {
    results[r] = function_.add_value(fresh_(stem_ + "_" + end), (*types)[r]);
    instruction.results.push_back(results[r]);
  }
  function_.add_instruction(region_, std::move(instruction));
  return results;
}

ValueId Builder::op(OpKind kind, const Values& operands, const Attributes& attributes,
                    std::string_view suffix, Type written) {
  if (std::holds_alternative<NoType>(written)) {
    return ops(kind, operands, attributes, 1, suffix).front();
  }
  if (error_) return {};
  Instruction instruction;  // a source op: its type is `written`, not inferred
  instruction.kind = kind;
  instruction.attributes = normalised_attributes(kind, attributes);
  instruction.from = call_.from;
  instruction.span = call_.span;
  instruction.name_span = call_.name_span;
  const std::string end(suffix.empty() ? record(kind).mnemonic : suffix);
  const ValueId result = function_.add_value(fresh_(stem_ + "_" + end), std::move(written));
  instruction.results = {result};
  function_.add_instruction(region_, std::move(instruction));
  return result;
}

ValueId Builder::compare(ValueId a, ValueId b, std::string_view direction) {
  return op(OpKind::compare, {a, b}, attrs({{"direction", Keyword{std::string(direction)}}}));
}

ValueId Builder::cast(ValueId x, DType to) {
  if (error_ || !x.valid() || dtype(x) == to) return x;
  return op(OpKind::cast, {x}, attrs({{"to", to}}));
}

ValueId Builder::widened(ValueId x) {
  if (error_ || !x.valid() || !is_narrow_float(dtype(x))) return x;
  return cast(x, DType::kF32);
}

ValueId Builder::full(DType dtype, const Shape& shape, double value) {
  return op(OpKind::constant, {}, attrs({{"value", value}}), {}, tensor(dtype, shape));
}

ValueId Builder::full_size(DType dtype, const Shape& shape, const IndexExpr& size) {
  const IndexExpr simple = size.simplified();
  if (simple.is_const()) return full(dtype, shape, static_cast<double>(simple.value()));
  return op(OpKind::constant, {}, attrs({{"size", simple}}), {}, tensor(dtype, shape));
}

ValueId Builder::iota(DType dtype, const Shape& shape, int64_t dim) {
  return op(OpKind::iota, {}, attrs({{"dim", dim}}), {}, tensor(dtype, shape));
}

ValueId Builder::broadcast(ValueId x, IntList dims, const Shape& to) {
  if (error_ || !x.valid()) return {};
  if (dims == all_dims(to.size()) && same_shape(shape(x), to)) return x;
  return op(OpKind::broadcast_in_dim, {x},
            attrs({{"dims", std::move(dims)}, {"shape", ExprList(to)}}), "broadcast");
}

ValueId Builder::broadcast_to(ValueId x, const Shape& to) {
  if (error_ || !x.valid()) return {};
  IntList dims;
  const size_t first = to.size() - rank(x);
  for (size_t d = first; d < to.size(); ++d) dims.push_back(static_cast<int64_t>(d));
  return broadcast(x, std::move(dims), to);
}

ValueId Builder::transpose(ValueId x, IntList permutation) {
  if (error_ || !x.valid() || permutation == all_dims(permutation.size())) return x;
  return op(OpKind::transpose, {x}, attrs({{"permutation", std::move(permutation)}}));
}

ValueId Builder::reshape(ValueId x, const Shape& to) {
  if (error_ || !x.valid() || same_shape(shape(x), to)) return x;
  return op(OpKind::reshape, {x}, attrs({{"shape", ExprList(to)}}));
}

ValueId Builder::slice(ValueId x, ExprList start, ExprList limit) {
  return op(OpKind::slice, {x}, attrs({{"start", std::move(start)}, {"limit", std::move(limit)}}));
}

ValueId Builder::slice_dim(ValueId x, int64_t dim, IndexExpr start, IndexExpr limit) {
  if (error_ || !x.valid()) return {};
  ExprList lo(rank(x), IndexExpr(0));
  ExprList hi = shape(x);
  lo[static_cast<size_t>(dim)] = std::move(start);
  hi[static_cast<size_t>(dim)] = std::move(limit);
  return slice(x, std::move(lo), std::move(hi));
}

ValueId Builder::concat(Values parts, int64_t dim) {
  if (parts.size() == 1) return parts.front();
  return op(OpKind::concat, std::move(parts), attrs({{"dim", dim}}));
}

ValueId Builder::reduce(OpKind kind, ValueId x, IntList dims) {
  if (dims.empty()) return x;
  return op(kind, {x}, attrs({{"dims", std::move(dims)}}));
}

ValueId Builder::unreduce(ValueId reduced, const IntList& dims, const Shape& to) {
  if (error_ || !reduced.valid()) return {};
  if (rank(reduced) == to.size()) return broadcast(reduced, all_dims(to.size()), to);
  return broadcast(reduced, other_dims(to.size(), dims), to);
}

IntList all_dims(size_t rank) {
  IntList dims;
  for (size_t d = 0; d < rank; ++d) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

IntList other_dims(size_t rank, const IntList& dims) {
  IntList others;
  for (const int64_t d : all_dims(rank)) {
    if (!contains(dims, d)) others.push_back(d);
  }
  return others;
}

Attributes attrs(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  Attributes out;
  for (const auto& [name, value] : entries) out.set(name, value);
  return out;
}

int64_t dim_of(const Attributes& attributes, std::string_view name, size_t rank, int64_t fallback) {
  const int64_t dim = attributes.get_or<int64_t>(name, fallback);
  return dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
}

}  // namespace hostir::ops
