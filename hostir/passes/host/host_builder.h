// Builds host instructions with operands given by slot name.
//
// The op's record defines operand order and access, so passes name slots (`stream`, `input`)
// instead of counting positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/unique_names.h"
#include "hostir/ops/record.h"

namespace hostir {

/// A slot name, its value, and the layout of the value after the instruction.
struct SlotUse {
  std::string_view slot;
  ValueId value;
  SharedSharding becomes = {};
};

/// The index of a slot in the op's record, which must have that slot.
uint8_t slot_index(OpKind kind, std::string_view slot);

/// The first operand in a slot; invalid if there is none.
ValueId slot_value(const Instruction& instruction, std::string_view slot);

/// An instruction with its operands in the record's order.
Instruction host_instruction(OpKind kind, std::vector<SlotUse> operands, Attributes attributes = {},
                             std::vector<OpRef> from = {});

/// A launch of a kernel, on buffers in the order of its parameters and results. The last `updates`
/// of both are one buffer each.
Instruction launch_instruction(const std::string& kernel, const std::vector<ValueId>& reads,
                               const std::vector<ValueId>& writes, ValueId stream,
                               const std::vector<OpRef>& from, size_t updates = 0);

/// The members of a group; of any other instruction, itself.
std::vector<const Instruction*> members_of(const Function& host, const Instruction& instruction);
/// The instruction for `to`, with copies of its regions there. Both functions have the same values.
Instruction with_regions_in(Function& to, const Function& from, Instruction instruction);

/// True if the last result of the instruction is an event, according to its record.
bool yields_event(const Instruction& instruction);
/// The event of an instruction. If it has none, adds one named after `stem` (unique in `names`).
ValueId event_of(Function& function, UniqueNames& names, InstrId instruction,
                 std::string_view stem);

}  // namespace hostir
