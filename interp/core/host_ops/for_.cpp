#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_for_(Engine& engine, Step& step);

// Evaluates the bounds once; the glue at the end of the body starts later iterations.
bool execute_for_(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  int64_t lower = 0;
  int64_t upper = 0;
  if (!engine.evaluate(step, step.code.exprs[0], lower)) return false;
  if (!engine.evaluate(step, step.code.exprs[1], upper)) return false;
  engine.move_registers(rank, step.code.moves);
  if (lower >= upper) {
    engine.move_registers(rank, step.code.exit_moves);
    step.next = step.code.end;
    return true;
  }
  const size_t known = engine.paths.size();
  const LoopPathId path = engine.paths.enter(rank.loop_path, step.index, lower);
  if (engine.paths.size() != known && engine.sink != nullptr) {
    engine.sink->loop_path(path, rank.loop_path, step.index, lower);
  }
  rank.loops.push_back({step.index, lower, upper, path, rank.loop_path});
  rank.loop_path = path;
  rank.registers[step.code.index_register].value = lower;
  return true;
}

}  // namespace hostir::interp
