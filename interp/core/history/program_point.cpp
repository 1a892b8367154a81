#include "interp/core/history/program_point.h"

#include <algorithm>

#include "interp/core/loop_paths.h"
#include "interp/core/state.h"

namespace hostir::interp {

Visit next_visit(const Interpreter& interpreter, Rank rank) {
  const RankState& state = interpreter.state().ranks[static_cast<size_t>(rank)];
  return {state.pc, state.loop_path};
}

ProgramPoint point_of(const Interpreter& interpreter, const Visit& visit) {
  ProgramPoint out;
  out.code = visit.code;
  for (LoopPathId path = visit.path; path != 0;) {
    const LoopPathTable::Entry& entry = interpreter.loop_paths().entry(path);
    out.loops.emplace_back(entry.loop, entry.iteration);
    path = entry.parent;
  }
  std::reverse(out.loops.begin(), out.loops.end());
  return out;
}

std::vector<ProgramPoint> points_of_ranks(const Interpreter& interpreter) {
  std::vector<ProgramPoint> out;
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    const RankStatus status = interpreter.state().ranks[static_cast<size_t>(r)].status;
    if (status == RankStatus::kNotStarted) continue;
    out.push_back(point_of(interpreter, next_visit(interpreter, r)));
    out.back().over = status == RankStatus::kDone;
  }
  return out;
}

bool is_past(const ProgramPoint& point, const ProgramPoint& visit) {
  if (point.over) return true;
  for (size_t depth = 0;; ++depth) {
    const bool inside = depth < point.loops.size();
    const bool wanted = depth < visit.loops.size();
    const CodeIndex at = inside ? point.loops[depth].first : point.code;
    const CodeIndex to = wanted ? visit.loops[depth].first : visit.code;
    if (at != to) return at > to;
    // A point inside a loop is past a visit of the loop instruction; a point at the loop
    // instruction is before a visit inside it.
    if (!inside || !wanted) return inside;
    if (point.loops[depth].second != visit.loops[depth].second)
      return point.loops[depth].second > visit.loops[depth].second;
  }
}

}  // namespace hostir::interp
