// Appending host instructions by the names of their slots.
//
// The record of each op says in which order operands stand and how they are accessed; the builder
// asks it, so that passes name slots (`stream`, `input`) instead of counting them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/ir/unique_names.h"
#include "hostir/ops/record.h"

namespace hostir {

/// A slot's name, a value for it, and the layout that the value has afterwards.
struct SlotUse {
  std::string_view slot;
  ValueId value;
  std::optional<Sharding> becomes = {};
};

/// The index of a slot in the op's record; the record must have it.
uint8_t slot_index(OpKind kind, std::string_view slot);

/// The first operand in a slot; invalid if there is none.
ValueId slot_value(const Instruction& instruction, std::string_view slot);

/// An instruction with operands sorted into the record's order.
Instruction host_instruction(OpKind kind, std::vector<SlotUse> operands, Attributes attributes = {},
                             std::vector<OpRef> from = {});

/// True if the record says that the instruction ends with an event.
bool yields_event(const Instruction& instruction);
/// The event of an instruction, named now (`stem`, made unique in `names`) if it had none.
ValueId event_of(Function& function, UniqueNames& names, InstrId instruction,
                 std::string_view stem);

}  // namespace hostir
