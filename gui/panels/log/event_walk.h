// Moves the selection from an event to its neighbours: along its lane, or along its dependencies.
//
// The log is searched in the background, and the selection moves when the answer arrives. If there
// is no neighbour, a message says so.
#pragma once

#include <cstdint>

#include "gui/state/model.h"

namespace hostir::gui {

enum class EventWalk : uint8_t {
  kNextOnLane,
  kPreviousOnLane,
  kForward,  // the collective on the next rank, else a task that waited for this one
  kBack,     // the collective on the previous rank, else the task that this one waited for
};

void walk_events(Model& model, EventWalk walk);

}  // namespace hostir::gui
