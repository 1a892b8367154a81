// Where a rank stands in the program, in the order in which a rank executes it.
//
// A visit is one execution of one instruction: the instruction and its loops' iterations. It is the
// same thing on all ranks, so that they can be compared: who has been there, who is past it.
// Regions and inlined calls lie in the order of the text, so an instruction further down in the
// same iteration comes later.
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

/// What the rank executes next.
Visit next_visit(const Interpreter& interpreter, Rank rank);

struct ProgramPoint {
  bool over = false;                                 // returned
  std::vector<std::pair<CodeIndex, int64_t>> loops;  // (loop, iteration), outermost first
  CodeIndex code = 0;
};

ProgramPoint point_of(const Interpreter& interpreter, const Visit& visit);
/// Where each rank stands that was started.
std::vector<ProgramPoint> points_of_ranks(const Interpreter& interpreter);
/// Whether who stands at `point` can execute the visit no more. He may have gone around it.
bool is_past(const ProgramPoint& point, const ProgramPoint& visit);

}  // namespace hostir::interp
