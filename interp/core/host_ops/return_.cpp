#include <fmt/core.h>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_return_(Engine& engine, Step& step);

namespace {

// A result declared `alias(%w)` must be the whole parameter %w.
bool is_alias(const Engine& engine, const Step& step, uint32_t operand) {
  const Function& function = *engine.run.code->functions[step.code.function];
  if (operand >= function.results.size() || !function.results[operand].alias) return true;
  const Register& name = step.rank_state.registers[step.code.operands[operand]];
  for (size_t p = 0; p < function.params.size(); ++p) {
    if (function.value(function.params[p].value).name != *function.results[operand].alias) continue;
    const Register& parameter = step.rank_state.registers[engine.run.code->parameters[p]];
    return name.slot == parameter.slot && name.value == parameter.value && name.offset_bytes == 0 &&
           name.shape == 0;
  }
  return true;
}

bool check_returned(Engine& engine, Step& step, uint32_t operand) {
  const Allocation* a = engine.operands.open(step, operand);
  if (a == nullptr) return false;
  const uint32_t reg = step.code.operands[operand];
  if (!is_alias(engine, step, operand)) {
    const auto& results = engine.run.code->functions[step.code.function]->results;
    return engine.faults.fault(
        step, "alias",
        fmt::format("rank {}: {} gives {} for a result declared alias(%{}); they are "
                    "different buffers",
                    step.rank, engine.faults.name_of(step), engine.run.code->register_name(reg),
                    *results[operand].alias));
  }
  const bool checks = engine.run.checks_all();
  if (a->initialised || !checks) return true;
  const Register& name = step.rank_state.registers[reg];
  const auto ref = engine.operands.buffer_of(step.rank_state, name);
  if (!ref || ref->size_bytes == 0) return true;
  const ByteRange range{ref->offset_bytes, ref->offset_bytes + ref->size_bytes};
  return engine.buffers.check_read(step, *a, reg, range, name.shape);
}

}  // namespace

// Waits for nothing: streams drain afterwards. In an inlined call, passes the results to the
// caller.
bool execute_return_(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (step.code.call != kNoCode) {
    engine.operands.move_registers(rank, step.code.moves);
    return true;
  }
  rank.results.clear();
  for (uint32_t i = 0; i < step.code.operands.size(); ++i) {
    const uint32_t reg = step.code.operands[i];
    rank.results.push_back(reg == kNoRegister ? Register{} : rank.registers[reg]);
    const bool buffer = reg != kNoRegister && engine.run.code->registers[reg].buffer;
    if (buffer && !check_returned(engine, step, i)) return false;
  }
  rank.status = RankStatus::kDone;
  step.next = step.index;
  return true;
}

}  // namespace hostir::interp
