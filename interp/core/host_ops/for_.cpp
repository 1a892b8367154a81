#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_for_(Engine& engine, Step& step);

// Evaluates the bounds once; the glue at the end of the body starts later iterations.
bool execute_for_(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  int64_t lower = 0;
  int64_t upper = 0;
  if (!engine.operands.evaluate(step, step.code.exprs[0], lower)) return false;
  if (!engine.operands.evaluate(step, step.code.exprs[1], upper)) return false;
  engine.operands.move_registers(rank, step.code.moves);
  if (lower >= upper) {
    engine.operands.move_registers(rank, step.code.exit_moves);
    step.next = step.code.end;
    return true;
  }
  const size_t known = engine.run.paths.size();
  const LoopPathId path = engine.run.paths.enter(rank.loop_path, step.index, lower);
  if (engine.run.paths.size() != known && engine.run.sink != nullptr) {
    engine.run.sink->loop_path(path, rank.loop_path, step.index, lower);
  }
  rank.loops.push_back({step.index, lower, upper, path, rank.loop_path});
  rank.loop_path = path;
  rank.registers[step.code.index_register].value = lower;
  return true;
}

}  // namespace hostir::interp
