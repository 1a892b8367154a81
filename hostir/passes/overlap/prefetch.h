// Issues what a step needs of the parameters while the step before it computes: the gathers of
// FSDP.
//
// A collective whose inputs come from parameters alone could start at once. Issued just before its
// result is used, it waits for the kernels before it, because its input often comes from a kernel
// on the same stream (a slice of stacked weights).
//
//   1. A unit is such a collective, with the launches, views and allocs that only feed it.
//   2. Units whose results the same launch uses first are a level, in the order of these launches.
//   3. A level moves up to the first user of the level before it, so that it travels while that
//      user computes. It goes no further, so at most two levels are in memory, whatever the number
//      of layers.
// Straight-line code on one stream, before streams are assigned.
#pragma once

#include <optional>

#include "hostir/ir/program.h"

namespace hostir {

/// `host` with its collectives moved; nullopt if none moves.
std::optional<Function> prefetched(const Function& host);

}  // namespace hostir
