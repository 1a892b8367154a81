// Computes an instruction's current operands, using the code that executes it.
#include "interp/core/engine/engine.h"

namespace hostir::interp {

Expected<OperandsNow> Engine::operands_now(Rank rank, CodeIndex index) {
  OperandsNow out;
  std::optional<std::string> refused;
  faults.probe = &refused;
  const Step base{run.state.ranks[static_cast<size_t>(rank)], run.code->instructions[index], rank,
                  index, index + 1};
  Step step = base;
  IssuePlan& bound = operands.plan(step);
  bool ok = true;
  if (communication_facts(step.code.kind) != nullptr) {
    ResolvedCall item;
    ok = communication.resolve(step, item);
    if (ok) out.item = std::move(item.item);
  } else {
    ok = operands.bind_buffers(step, bound);
  }
  faults.probe = nullptr;
  if (!ok) return fail(ErrorKind::kRuntime, "not_now", refused.value_or("it cannot run here"));
  for (const PlannedBuffer& b : bound.buffers) out.operands.push_back(b.operand);
  out.buffers = bound.refs;
  return out;
}

}  // namespace hostir::interp
