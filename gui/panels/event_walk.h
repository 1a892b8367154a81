// From the selected event to its neighbours: along its lane, and along what connects it to others.
//
// The log is searched in the background; the selection moves when the answer is there. Where there
// is no neighbour, a message says so.
#pragma once

#include <cstdint>

#include "gui/model.h"

namespace hostir::gui {

enum class EventWalk : uint8_t {
  kNextOnLane,
  kPreviousOnLane,
  kForward,  // the collective's next member by rank; else what waited for this event's task
  kBack,     // the collective's previous member; else the task that this event waited for
};

void walk_events(Model& model, EventWalk walk);

}  // namespace hostir::gui
