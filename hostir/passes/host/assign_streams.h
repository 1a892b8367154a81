// Moves collectives to their own stream.
//
//   1. Communication instructions move from the stream "compute" to the stream "comm", and so do
//      allocs of buffers that a communication instruction writes first. A function without
//      communication does not change.
//   2. In program order, a reader depends on the last writer; a writer also depends on the readers
//      since then. If the dependency is on another stream and not yet known to be complete
//      (stream_order.h), the pass names its event and inserts a `wait`.
// Handles straight-line host functions, as lower_host builds them.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

Function assign_streams(const Program& program, const Function& host);

}  // namespace hostir
