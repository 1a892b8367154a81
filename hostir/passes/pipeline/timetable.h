// When each action of a schedule runs if communication takes no time, and how long ranks are idle.
#pragma once

#include <string>

#include "hostir/passes/pipeline/schedule.h"

namespace hostir::pipeline {

/// Times of one stage on one micro-batch, in any unit. A whole backward pass takes the sum of its
/// two parts.
struct Costs {
  int64_t forward = 1;
  int64_t backward_input = 1;
  int64_t backward_weight = 1;
  int64_t of(Work work) const;
};

struct Slot {
  Action action;
  int64_t start = 0;
  int64_t end = 0;
};

struct Timetable {
  std::vector<std::vector<Slot>> ranks;
  int64_t length = 0;  // until the last rank ends
  int64_t busy = 0;    // of each rank: all have the same work
  /// The bubbles of a rank. Divided by `busy`, the published bubble fraction.
  int64_t idle() const { return length - busy; }
};

/// Every action starts as soon as its rank is free and its inputs are there: a forward pass
/// needs that of the previous stage, a backward pass its forward pass and the backward pass of
/// the stage after, the weights' gradients the input's gradient. Errors: `pipeline_order` the
/// order of the ranks contradicts this; names the action at which each rank stops and what it
/// lacks.
Expected<Timetable> make_timetable(const Schedule& schedule, const Costs& costs = {});

/// One line per rank, one column per unit of time; `.` is a bubble.
std::string draw(const Timetable& timetable);

}  // namespace hostir::pipeline
