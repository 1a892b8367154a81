// Frees buffers after their last use, or reuses their storage.
//
//   1. A buffer that is allocated here and not returned dies at its last use. It is freed at the
//      first later place where some stream knows all its uses to be complete. That is normally
//      right after the last use, on the same stream. If there is no such place, it is freed at the
//      end, after a wait.
//   2. A later `alloc`, on a stream that knows all those uses to be complete, takes over the
//      storage of a dead buffer with the same size in bytes on every rank: `alloc : T over %g`.
// Invariant: the pass never adds a wait before an instruction that does work.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

Function assign_lifetimes(const Program& program, const Function& host);

}  // namespace hostir
