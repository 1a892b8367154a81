// Collectives on a stream of their own.
//
//   1. Every communication instruction, and the allocs of buffers that one writes first, move from
//      "compute" to the stream "comm"; without any, nothing changes.
//   2. In program order: a reader needs the last writer, a writer also the readers since. Where
//   that
//      is on another stream and the stream does not know it to be complete already
//      (stream_order.h), the event is named and a `wait` put before.
// For straight-line host functions as lower_host makes them.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

Function assign_streams(const Function& host);

}  // namespace hostir
