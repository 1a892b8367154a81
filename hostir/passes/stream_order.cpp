#include "hostir/passes/stream_order.h"

#include <algorithm>

#include "hostir/passes/host_builder.h"

namespace hostir {

StreamPoint StreamOrder::issue(ValueId stream) {
  Clock& mine = known_[stream.index];
  const uint32_t task = static_cast<uint32_t>(at_[stream.index].size()) + 1;
  mine[stream.index] = task;
  at_[stream.index].push_back(mine);
  return {stream, task};
}

bool StreamOrder::knows(ValueId stream, const StreamPoint& point) const {
  if (stream == point.stream) return true;  // a stream runs in order
  const auto mine = known_.find(stream.index);
  if (mine == known_.end()) return false;
  const auto entry = mine->second.find(point.stream.index);
  return entry != mine->second.end() && entry->second >= point.task;
}

void StreamOrder::wait(ValueId stream, const StreamPoint& point) {
  Clock& mine = known_[stream.index];
  for (const auto& [other, task] : at_[point.stream.index][point.task - 1]) {
    mine[other] = std::max(mine[other], task);
  }
}

std::vector<BufferUse> buffer_uses(const Instruction& instruction) {
  std::vector<BufferUse> out;
  for (const Operand& o : instruction.operands) {
    if (o.value.valid() && o.access != Access::kUse) out.push_back({o.value, o.access});
  }
  if (instruction.kind == OpKind::alloc) {
    out.push_back({instruction.results.front(), Access::kWrite});
    const ValueId storage = slot_value(instruction, "storage");
    if (storage.valid()) out.push_back({storage, Access::kWrite});
  }
  if (instruction.kind == OpKind::free) {
    out.push_back({slot_value(instruction, "buffer"), Access::kWrite});
  }
  return out;
}

ValueId task_stream(const Instruction& instruction) {
  if (!yields_event(instruction)) return ValueId();
  return slot_value(instruction, "stream");
}

}  // namespace hostir
