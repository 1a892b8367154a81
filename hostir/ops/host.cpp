#include "hostir/ops/host.h"

#include <fmt/core.h>

namespace hostir::ops {

const Type* only_buffer(const OpCall& call) {
  return call.operands.size() == 1 && is_tensor(call.operands[0]) ? &call.operands[0] : nullptr;
}

Violated check_buffer_slot(const OpCall& call, std::string_view slot) {
  for (const SlotOperand& operand : in_slot(call, slot)) {
    if (operand.type != nullptr && is_tensor(*operand.type)) continue;
    const std::string what = operand.type == nullptr ? "none" : to_string(*operand.type);
    return Violation{fmt::format("{} needs a buffer, not {}", record(call.kind).mnemonic, what),
                     static_cast<int>(operand.index)};
  }
  return std::nullopt;
}

Violated check_buffer(const OpCall& call) {
  const Violated handles = check_handles(call);
  return handles ? handles : check_buffer_slot(call, "buffer");
}

std::optional<int64_t> known_bytes(const Type& type) {
  const auto* tensor = std::get_if<TensorType>(&type);
  if (tensor == nullptr) return std::nullopt;
  const auto extents = constant_extents(tensor->shape);
  const auto count = extents ? element_count(*extents) : std::nullopt;
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, size_bytes(tensor->dtype), &bytes))
    return std::nullopt;
  return bytes;
}

bool may_bind(const Type& from, const Type& to) {
  if (!is_tensor(from) || !is_tensor(to)) return from.index() == to.index();
  const Shape& a = shape_of(from);
  const Shape& b = shape_of(to);
  if (dtype_of(from) != dtype_of(to) || a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d) {
    const IndexExpr difference = IndexExpr::binary(IndexExpr::Kind::kSub, a[d], b[d]).simplified();
    if (difference.is_const() && difference.value() != 0) return false;
  }
  return true;
}

std::string short_text(const Type& type) {
  if (!is_tensor(type)) return to_string(type);
  const Shape& shape = shape_of(type);
  return fmt::format("{}[{}]", name(dtype_of(type)), shape.empty() ? "" : text(shape));
}

std::vector<Type> handed_over(const OpCall& call, const Instruction& instruction) {
  std::vector<Type> types;
  for (const Operand& operand : instruction.operands) {
    types.push_back(operand.value.valid() ? call.function->value(operand.value).type
                                          : Type(EventType{}));
  }
  return types;
}

const Instruction* closing_yield(const OpCall& call, size_t region) {
  if (call.function == nullptr || region >= call.instruction->regions.size()) return nullptr;
  const auto& list = call.function->region(call.instruction->regions[region]).instructions;
  if (list.empty()) return nullptr;
  const Instruction& last = call.function->instr(list.back());
  return last.kind == OpKind::yield ? &last : nullptr;
}

const Function* named_function(const OpCall& call, std::string_view attribute) {
  const auto* symbol = call.attributes.get<Symbol>(attribute);
  if (symbol == nullptr || call.program == nullptr) return nullptr;
  return call.program->find_function(symbol->name);
}

const Mesh* mesh_named_or_own(const OpCall& call) {
  if (call.program == nullptr || call.function == nullptr) return nullptr;
  const auto* symbol = call.attributes.get<Symbol>("mesh");
  return call.program->find_mesh(symbol != nullptr ? symbol->name : call.function->mesh);
}

}  // namespace hostir::ops
