#include "hostir/ops/expand.h"

namespace hostir::ops {

ValueId append(Function& function, RegionId region, const Instruction& like, NewOp op) {
  Instruction instruction;
  instruction.kind = op.kind;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Operand operand;
    operand.value = op.operands[i];
    operand.slot = static_cast<uint8_t>(slot_of(record(op.kind), i));
    operand.span = like.name_span;
    instruction.operands.push_back(std::move(operand));
  }
  instruction.attributes = std::move(op.attributes);
  instruction.from = like.from;
  instruction.span = like.span;
  instruction.name_span = like.name_span;
  const ValueId result = function.add_value(std::move(op.name), std::move(op.type));
  instruction.results = {result};
  function.add_instruction(region, std::move(instruction));
  return result;
}

}  // namespace hostir::ops
