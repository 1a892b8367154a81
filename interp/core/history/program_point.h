// A rank's position in the program, in the order in which a rank executes it.
//
// A visit is one execution of one instruction: the instruction and its loop iterations. A visit
// identifies the same point on all ranks, so ranks can be compared: which ones have reached it,
// which ones are past it. Regions and inlined calls are in text order, so an instruction further
// down in the same iteration comes later.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "interp/core/interpreter.h"

namespace hostir::interp {

struct Visit {
  CodeIndex code = 0;
  LoopPathId path = 0;
  friend auto operator<=>(const Visit&, const Visit&) = default;
};

/// The next instruction of the rank, as a visit.
Visit next_visit(const Interpreter& interpreter, Rank rank);

struct ProgramPoint {
  bool over = false;                                 // the rank has returned
  std::vector<std::pair<CodeIndex, int64_t>> loops;  // (loop, iteration), outermost first
  CodeIndex code = 0;
};

ProgramPoint point_of(const Interpreter& interpreter, const Visit& visit);
/// The points of all started ranks.
std::vector<ProgramPoint> points_of_ranks(const Interpreter& interpreter);
/// True if a rank at `point` can no longer execute the visit. It may have branched around it.
bool is_past(const ProgramPoint& point, const ProgramPoint& visit);

}  // namespace hostir::interp
