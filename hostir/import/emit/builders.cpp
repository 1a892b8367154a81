// The emitter's small builders. Each adds one instruction, or none if the operand is a known number
// or the result equals the operand.

#include <algorithm>
#include <numeric>

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

namespace {

ExprList expressions(const std::vector<int64_t>& values) {
  return ExprList(values.begin(), values.end());
}

std::vector<int64_t> shape_dims(const Type& type) {
  std::vector<int64_t> out;
  for (const IndexExpr& size : shape_of(type)) {
    const IndexExpr known = size.simplified();
    out.push_back(known.is_const() ? known.value() : ModuleType::kUnknownSize);
  }
  return out;
}

bool is_identity(const std::vector<int64_t>& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// The same number with another shape.
Known as_shape(const Known& x, std::vector<int64_t> dims) {
  Known out = x;
  out.value = ValueId();
  out.type.dims = std::move(dims);
  if (!out.splat) out.number->extents = out.type.dims;
  return out;
}

}  // namespace

Known Emitter::number(double value, const ModuleType& type) {
  Tensor scalar = Tensor::zeros(*type.dtype(), {});
  scalar.set_double(0, value);
  return splat_of(std::move(scalar), type);
}

Known Emitter::integer(int64_t value, const ModuleType& type) {
  Tensor scalar = Tensor::zeros(*type.dtype(), {});
  scalar.set_int(0, value);
  return splat_of(std::move(scalar), type);
}

Expected<Known> Emitter::reshaped(const Known& x, std::vector<int64_t> dims) {
  if (x.type.dims == dims) return x;
  if (x.is_number()) return as_shape(x, std::move(dims));
  Attributes attributes;
  attributes.set("shape", expressions(dims));
  return apply(OpKind::reshape, {x}, std::move(attributes));
}

Expected<Known> Emitter::transposed(const Known& x, const std::vector<int64_t>& permutation) {
  if (is_identity(permutation)) return x;
  if (x.is_number() && x.splat) {
    std::vector<int64_t> dims;
    for (const int64_t d : permutation) dims.push_back(x.type.dims[static_cast<size_t>(d)]);
    return as_shape(x, std::move(dims));
  }
  Attributes attributes;
  attributes.set("permutation", IntList(permutation));
  return apply(OpKind::transpose, {x}, std::move(attributes));
}

Expected<Known> Emitter::broadcast(const Known& x, const std::vector<int64_t>& dims,
                                   std::vector<int64_t> to) {
  std::vector<int64_t> all(to.size());
  std::iota(all.begin(), all.end(), 0);
  if (x.type.dims == to && dims == all) return x;
  if (x.is_number() && (x.splat || x.number->element_count() == 1)) {
    Known out = x;
    out.value = ValueId();
    out.splat = true;
    out.number->extents.clear();
    out.type.dims = std::move(to);
    return out;
  }
  // Merge a broadcast of a broadcast into one.
  if (x.value.valid() && target_.value(x.value).defined_by.valid()) {
    const Instruction& from = target_.instr(target_.value(x.value).defined_by);
    const IntList* inner =
        from.kind == OpKind::broadcast_in_dim ? from.attributes.get<IntList>("dims") : nullptr;
    const auto* type =
        inner != nullptr ? std::get_if<TensorType>(&target_.value(x.value).type) : nullptr;
    if (type != nullptr && !type->sharding) {
      std::vector<int64_t> through;
      for (const int64_t d : *inner) through.push_back(dims[static_cast<size_t>(d)]);
      Known source;
      source.value = from.operands.front().value;
      source.type.dims = shape_dims(target_.value(source.value).type);
      return broadcast(source, through, std::move(to));
    }
  }
  Attributes attributes;
  attributes.set("dims", IntList(dims));
  attributes.set("shape", expressions(to));
  return apply(OpKind::broadcast_in_dim, {x}, std::move(attributes));
}

Expected<Known> Emitter::sliced(const Known& x, const std::vector<int64_t>& start,
                                const std::vector<int64_t>& limit,
                                const std::vector<int64_t>& stride) {
  std::vector<int64_t> dims;
  bool whole = true;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t step = std::max<int64_t>(stride[d], 1);
    dims.push_back((limit[d] - start[d] + step - 1) / step);
    whole = whole && start[d] == 0 && limit[d] == x.type.dims[d] && stride[d] == 1;
  }
  if (whole) return x;
  if (x.is_number() && x.splat) return as_shape(x, std::move(dims));
  // Slice a stack by slicing only its pieces in the range.
  const bool steps =
      std::any_of(stride.begin(), stride.end(), [](int64_t step) { return step != 1; });
  if (!x.value.valid() && !x.pieces.empty() && !steps) {
    const size_t along = x.pieces_dim;
    int64_t from = 0;
    std::vector<Known> parts;
    for (const Known& piece : x.pieces) {
      const int64_t size = piece.type.dims[along];
      std::vector<int64_t> lo = start;
      std::vector<int64_t> hi = limit;
      lo[along] = std::clamp<int64_t>(start[along] - from, 0, size);
      hi[along] = std::clamp<int64_t>(limit[along] - from, 0, size);
      from += size;
      if (lo[along] == hi[along]) continue;
      HOSTIR_ASSIGN_OR_RETURN(Known part, sliced(piece, lo, hi, stride));
      parts.push_back(std::move(part));
    }
    if (parts.size() == 1) return parts.front();
    if (!parts.empty()) {
      Known out;
      out.type = tensor_type(x.type.element, std::move(dims));
      out.pieces = std::move(parts);
      out.pieces_dim = along;
      return out;
    }
  }
  Attributes attributes;
  attributes.set("start", expressions(start));
  attributes.set("limit", expressions(limit));
  if (std::any_of(stride.begin(), stride.end(), [](int64_t s) { return s != 1; })) {
    attributes.set("stride", IntList(stride));
  }
  return apply(OpKind::slice, {x}, std::move(attributes));
}

// Recognises jnp.roll. Returns the value that begins with the second part along `dim` and ends with
// the first; nullopt if there is none.
std::optional<ValueId> Emitter::rolled(const std::vector<Known>& parts, size_t dim) const {
  if (parts.size() != 2 || target_.kind != FunctionKind::kFusion) return std::nullopt;
  int64_t begin = parts[1].type.dims[dim];
  std::optional<ValueId> of;
  for (const Known& part : parts) {
    if (!part.value.valid() || !part.lead.empty()) return std::nullopt;
    const InstrId def = target_.value(part.value).defined_by;
    if (!def.valid() || target_.instr(def).kind != OpKind::slice) return std::nullopt;
    const Instruction& slice = target_.instr(def);
    const ValueId x = slice.operands.front().value;
    const std::vector<int64_t> whole = shape_dims(target_.value(x).type);
    ExprList start(whole.size(), 0);
    start[dim] = begin;
    ExprList limit = expressions(whole);
    limit[dim] = begin + part.type.dims[dim];
    if ((of && *of != x) || slice.attributes.get_or<ExprList>("start", {}) != start ||
        slice.attributes.get_or<ExprList>("limit", {}) != limit ||
        slice.attributes.get<IntList>("stride") != nullptr)
      return std::nullopt;
    if (!of && limit[dim] != IndexExpr(whole[dim])) return std::nullopt;
    of = x;
    begin = 0;
  }
  return of;
}

Expected<Known> Emitter::concatenated(std::vector<Known> parts, size_t dim) {
  std::erase_if(parts,
                [&](const Known& part) { return part.type.dims[dim] == 0 && parts.size() > 1; });
  if (parts.size() == 1) return parts.front();
  Attributes attributes;
  attributes.set("dim", static_cast<int64_t>(dim));
  if (const std::optional<ValueId> x = rolled(parts, dim)) {
    Known all = parts.front();
    all.value = *x;
    all.type.dims[dim] += parts.back().type.dims[dim];
    // The shorter of the two shifts, which is most likely the one that was written.
    const int64_t first = parts.front().type.dims[dim];
    const int64_t second = parts.back().type.dims[dim];
    attributes.set("shift", IndexExpr(first <= second ? first : -second));
    return apply(OpKind::roll, {all}, std::move(attributes));
  }
  return apply_list(OpKind::concat, std::move(parts), std::move(attributes));
}

Expected<Known> Emitter::cast(const Known& x, const std::string& element) {
  if (x.type.element == element) return x;
  ModuleType to = tensor_type(element, x.type.dims);
  HOSTIR_ASSIGN_OR_RETURN(const TensorType ours, our_type(to, place_));
  if (ours.dtype == *x.type.dtype()) {
    Known out = x;
    out.type = std::move(to);
    return out;
  }
  Attributes attributes;
  attributes.set("to", ours.dtype);
  return apply(OpKind::cast, {x}, std::move(attributes));
}

Expected<Known> Emitter::compared(const Known& a, const Known& b, std::string direction) {
  Attributes attributes;
  attributes.set("direction", Keyword{std::move(direction)});
  return apply(OpKind::compare, {a, b}, std::move(attributes));
}

Expected<Known> Emitter::reduced(OpKind kind, const Known& x, const std::vector<int64_t>& dims) {
  if (dims.empty()) return x;
  Attributes attributes;
  attributes.set("dims", IntList(dims));
  return apply(kind, {x}, std::move(attributes));
}

}  // namespace hostir::importer
