#include "hostir/passes/host/host_builder.h"

#include <algorithm>

namespace hostir {

uint8_t slot_index(OpKind kind, std::string_view slot) {
  const auto& specs = record(kind).operands;
  for (size_t s = 0; s < specs.size(); ++s) {
    if (specs[s].name == slot) return static_cast<uint8_t>(s);
  }
  return 0xff;
}

ValueId slot_value(const Instruction& instruction, std::string_view slot) {
  const uint8_t index = slot_index(instruction.kind, slot);
  for (const Operand& o : instruction.operands) {
    if (o.slot == index) return o.value;
  }
  return ValueId();
}

Instruction host_instruction(OpKind kind, std::vector<SlotUse> operands, Attributes attributes,
                             std::vector<OpRef> from) {
  Instruction i;
  i.kind = kind;
  i.attributes = std::move(attributes);
  i.from = std::move(from);
  for (SlotUse& use : operands) {
    Operand o;
    o.value = use.value;
    o.slot = slot_index(kind, use.slot);
    o.access = record(kind).operands[o.slot].access;
    o.becomes = std::move(use.becomes);
    i.operands.push_back(std::move(o));
  }
  std::stable_sort(i.operands.begin(), i.operands.end(),
                   [](const Operand& a, const Operand& b) { return a.slot < b.slot; });
  return i;
}

Instruction launch_instruction(const std::string& kernel, const std::vector<ValueId>& reads,
                               const std::vector<ValueId>& writes, ValueId stream,
                               const std::vector<OpRef>& from, size_t updates) {
  std::vector<SlotUse> operands;
  for (size_t r = 0; r < reads.size(); ++r)
    operands.push_back({r + updates < reads.size() ? "reads" : "updates", reads[r]});
  for (size_t w = 0; w + updates < writes.size(); ++w) operands.push_back({"writes", writes[w]});
  operands.push_back({"stream", stream});
  Attributes attributes;
  attributes.set("kernel", Symbol{kernel});
  return host_instruction(OpKind::launch, std::move(operands), std::move(attributes), from);
}

std::vector<const Instruction*> members_of(const Function& host, const Instruction& instruction) {
  if (record(instruction.kind).role != HostRole::kGroup) return {&instruction};
  std::vector<const Instruction*> out;
  for (const InstrId id : host.region(instruction.regions.front()).instructions) {
    out.push_back(&host.instr(id));
  }
  return out;
}

Instruction with_regions_in(Function& to, const Function& from, Instruction instruction) {
  for (RegionId& region : instruction.regions) {
    const RegionId made = to.add_region();
    for (const InstrId id : from.region(region).instructions) {
      to.add_instruction(made, with_regions_in(to, from, from.instr(id)));
    }
    region = made;
  }
  return instruction;
}

bool yields_event(const Instruction& instruction) {
  const auto& results = record(instruction.kind).results;
  return !results.empty() && results.back().name == "event";
}

ValueId event_of(Function& function, UniqueNames& names, InstrId id, std::string_view stem) {
  const size_t wanted = record(function.instr(id).kind).results.size();
  if (function.instr(id).results.size() < wanted) {
    const ValueId event = function.add_value(names.fresh(stem), EventType{});
    function.value(event).defined_by = id;
    function.value(event).result_index = static_cast<uint32_t>(wanted - 1);
    function.instr(id).results.push_back(event);
  }
  return function.instr(id).results.back();
}

}  // namespace hostir
