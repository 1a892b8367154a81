// Widening in pointwise ops: `add %x, %bias`, `mul %x, 0.5`. Operands of different shapes are
// widened as in NumPy, by a broadcast_in_dim that the canonical text shows. A number becomes a
// constant of the shape and dtype that its use needs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hostir/ir/compact.h"
#include "hostir/ir/fits.h"
#include "hostir/ops/builder.h"
#include "hostir/text/verify/verify_function.h"

namespace hostir::text {

namespace {

const Shape* shape_if_tensor(const Type& type) {
  const auto* tensor = std::get_if<TensorType>(&type);
  return tensor ? &tensor->shape : nullptr;
}

// The shape to which all operands widen; nullopt if two sizes differ and neither is 1.
std::optional<Shape> common_shape(const std::vector<const Shape*>& shapes) {
  size_t rank = 0;
  for (const Shape* s : shapes) rank = std::max(rank, s->size());
  Shape out(rank, IndexExpr(1));
  for (const Shape* s : shapes) {
    for (size_t d = 0; d < s->size(); ++d) {
      IndexExpr& wide = out[rank - s->size() + d];
      if (ops::same_size((*s)[d], wide) || ops::same_size((*s)[d], 1)) continue;
      if (!ops::same_size(wide, 1)) return std::nullopt;
      wide = (*s)[d];
    }
  }
  return out;
}

bool widens(const OpRecord& op) {
  return op.shape == OpShape::kPointwise && op.operands.size() > 1;
}

}  // namespace

bool FunctionVerifier::is_literal(ValueId value) const {
  return notes_.literals.count(value.index) != 0;
}

// Sets the types of literal operands: the common shape, and the dtype of the last operand that is
// not a number (for select, one of the two choices). Where there is none, both come from the
// written type of the result. Of ops that are not pointwise, only positions are numbers: i32
// scalars.
void FunctionVerifier::set_literal_types(const Instruction& instruction) {
  if (notes_.literals.empty()) return;
  if (!widens(record(instruction.kind))) {
    for (const Operand& o : instruction.operands) {
      if (is_literal(o.value)) set_literal_type(o.value, DType::kI32, {}, "a position is an i32");
    }
    return;
  }
  std::vector<const Shape*> shapes;
  std::optional<DType> dtype;
  bool any = false;
  const auto& operands = instruction.operands;
  for (const Operand& o : operands) {
    if (!o.value.valid()) return;
    const Type& type = function_.value(o.value).type;
    if (is_literal(o.value)) {
      any = true;
    } else if (const Shape* shape = shape_if_tensor(type)) {
      shapes.push_back(shape);
      const bool is_predicate = instruction.kind == OpKind::select && &o == &operands.front();
      if (!is_predicate) dtype = dtype_of(type);
    } else {
      return;
    }
  }
  if (!any) return;
  const Type& result = function_.value(instruction.results.front()).type;
  const Shape* written = shape_if_tensor(result);
  if (written != nullptr && shapes.empty()) shapes.push_back(written);
  if (!dtype && written != nullptr && instruction.kind != OpKind::compare) dtype = dtype_of(result);
  const auto shape = common_shape(shapes);
  if (!shape) return;
  if (!dtype || shapes.empty()) {
    const std::string op(record(instruction.kind).mnemonic);
    context_.error("constant_c2",
                   "the dtype and shape of the numbers of " + op +
                       " are not known: write the type of its result, or make one of them a "
                       "constant with a type",
                   instruction.name_span);
    return;
  }
  for (const Operand& o : instruction.operands) {
    if (is_literal(o.value))
      set_literal_type(o.value, *dtype, *shape,
                       "a number has the dtype of the other operand: cast that operand, or write "
                       "a number that fits");
  }
}

void FunctionVerifier::set_literal_type(ValueId value, DType dtype, const Shape& shape,
                                        const char* advice) {
  const FunctionNotes::Literal& literal = notes_.literals.at(value.index);
  function_.value(value).type = TensorType{dtype, shape, std::nullopt};
  if (const auto why = why_not_exact(literal.number, dtype))
    context_.error("constant_c4", fmt::format("{}; {}", *why, advice), literal.span);
}

Expected<std::vector<Type>> FunctionVerifier::infer_widened(const Instruction& instruction) {
  std::vector<const Shape*> shapes;
  for (const Operand& o : instruction.operands) {
    const Shape* shape = o.value.valid() ? shape_if_tensor(function_.value(o.value).type) : nullptr;
    if (shape != nullptr) shapes.push_back(shape);
  }
  const bool all = shapes.size() == instruction.operands.size() && !shapes.empty();
  const auto same = [&](const Shape* s) { return ops::same_shape(*s, *shapes.front()); };
  const auto common = all && !is_host() && widens(record(instruction.kind)) &&
                              !std::all_of(shapes.begin(), shapes.end(), same)
                          ? common_shape(shapes)
                          : std::nullopt;
  if (!common) return check_and_infer(context_.program, function_, instruction);
  // The same instruction with widened operands.
  Function wide;
  Instruction call = instruction;
  for (size_t o = 0; o < call.operands.size(); ++o) {
    TensorType type = std::get<TensorType>(function_.value(call.operands[o].value).type);
    if (!ops::same_shape(type.shape, *common)) {
      widenings_.push_back({&instruction, o, *common});
    }
    type.shape = *common;
    call.operands[o].value = wide.add_value({}, std::move(type));
  }
  for (ValueId& r : call.results) r = wide.add_value({}, function_.value(r).type);
  return check_and_infer(context_.program, wide, call);
}

// Runs after the walk, which keeps references to names and instructions.
void FunctionVerifier::apply_widening() {
  if (widenings_.empty() || is_broken()) return;
  std::map<InstrId, std::vector<Widening>> due;
  for (const Widening& w : widenings_) {
    due[InstrId(static_cast<size_t>(w.user - function_.instructions.data()))].push_back(w);
  }
  const size_t regions = function_.regions.size();
  for (size_t r = 0; r < regions; ++r) insert_widenings(RegionId(r), due);
  widenings_.clear();
  function_ = compacted(function_);
}

void FunctionVerifier::insert_widenings(RegionId region,
                                        const std::map<InstrId, std::vector<Widening>>& due) {
  const std::vector<InstrId> old = std::exchange(function_.region(region).instructions, {});
  for (const InstrId id : old) {
    const auto found = due.find(id);
    for (const Widening& w : found == due.end() ? std::vector<Widening>() : found->second) {
      Operand& operand = function_.instr(id).operands[w.operand];
      const std::string stem = function_.value(operand.value).name + "_wide";
      const TensorType from = std::get<TensorType>(function_.value(operand.value).type);
      IntList dims = ops::all_dims(from.shape.size());
      for (int64_t& d : dims) d += static_cast<int64_t>(w.shape.size() - from.shape.size());
      Instruction widen;
      widen.kind = OpKind::broadcast_in_dim;
      widen.operands = {Operand{.value = operand.value, .span = operand.span}};
      widen.attributes = ops::attrs({{"dims", std::move(dims)}, {"shape", ExprList(w.shape)}});
      widen.span = widen.name_span = operand.span;
      // Comments stay in front of the instruction as written.
      std::swap(widen.comments.leading, function_.instr(id).comments.leading);
      const ValueId result =
          function_.add_value(function_.unique_name(stem), TensorType{from.dtype, w.shape, {}});
      function_.value(result).span = operand.span;
      operand.value = result;
      widen.results = {result};
      function_.add_instruction(region, std::move(widen));
    }
    function_.region(region).instructions.push_back(id);
  }
}

}  // namespace hostir::text
