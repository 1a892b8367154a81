#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_return_(Engine& engine, Step& step);

// Waits for nothing: streams drain behind it. Of an inlined call it passes the results on.
bool execute_return_(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (step.code.call != kNoCode) {
    engine.move_registers(rank, step.code.moves);
    return true;
  }
  rank.results.clear();
  for (uint32_t i = 0; i < step.code.operands.size(); ++i) {
    const uint32_t reg = step.code.operands[i];
    rank.results.push_back(reg == kNoRegister ? Register{} : rank.registers[reg]);
    const bool buffer = reg != kNoRegister && engine.code->registers[reg].buffer;
    if (buffer && engine.open(step, i) == nullptr) return false;
  }
  rank.status = RankStatus::kDone;
  step.next = step.index;
  return true;
}

}  // namespace hostir::interp
