#include "hostir/passes/host/stream_order.h"

#include <algorithm>

#include "hostir/passes/host/host_builder.h"

namespace hostir {

StreamPoint StreamOrder::issue(ValueId stream, uint32_t set) {
  const uint32_t task = ++issued_[stream.index];
  for (const uint32_t c : classes_[set]) {
    Clock& mine = known_[{c, stream.index}];
    mine[stream.index] = task;
    at_[{c, stream.index}][task] = mine;
  }
  return {stream, task, set};
}

bool StreamOrder::knows(ValueId stream, const StreamPoint& point) const {
  if (stream == point.stream) return true;  // a stream runs in order
  const std::vector<uint32_t>& classes = classes_[point.set];
  return std::all_of(classes.begin(), classes.end(), [&](uint32_t c) {
    const auto mine = known_.find({c, stream.index});
    if (mine == known_.end()) return false;
    const auto entry = mine->second.find(point.stream.index);
    return entry != mine->second.end() && entry->second >= point.task;
  });
}

void StreamOrder::wait(ValueId stream, const StreamPoint& point) {
  for (const uint32_t c : classes_[point.set]) {
    Clock& mine = known_[{c, stream.index}];
    for (const auto& [other, task] : at_[{c, point.stream.index}][point.task]) {
      mine[other] = std::max(mine[other], task);
    }
  }
}

std::vector<ValueId> buffers_behind(const Function& host) {
  std::vector<ValueId> out;
  for (size_t v = 0; v < host.values.size(); ++v) {
    const InstrId by = host.values[v].defined_by;
    const bool view = by.valid() && record(host.instr(by).kind).role == HostRole::kView;
    out.push_back(view ? host.instr(by).operands.front().value : ValueId(v));
  }
  for (ValueId& value : out) {
    while (out[value.index] != value) value = out[value.index];
  }
  return out;
}

std::vector<BufferUse> buffer_uses(const Function& host, const Instruction& instruction,
                                   const std::vector<ValueId>& memory) {
  std::vector<BufferUse> out;
  for (const Instruction* i : members_of(host, instruction)) {
    for (const Operand& o : i->operands) {
      if (o.value.valid() && o.access != Access::kUse) out.push_back({o.value, o.access});
    }
  }
  if (instruction.kind == OpKind::alloc) {
    out.push_back({instruction.results.front(), Access::kWrite});
    const ValueId storage = slot_value(instruction, "storage");
    if (storage.valid()) out.push_back({storage, Access::kWrite});
  }
  if (instruction.kind == OpKind::free) {
    out.push_back({slot_value(instruction, "buffer"), Access::kWrite});
  }
  for (BufferUse& use : out) use.buffer = memory[use.buffer.index];
  return out;
}

ValueId task_stream(const Function& host, const Instruction& instruction) {
  if (!yields_event(instruction)) return ValueId();
  return slot_value(*members_of(host, instruction).front(), "stream");
}

}  // namespace hostir
