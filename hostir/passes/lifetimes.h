// Buffers are freed when nobody needs them, or handed on.
//
//   1. A buffer that is allocated here and not returned dies at its last use. It is freed at the
//      first place after that where some stream knows all its uses to be complete: normally right
//      after the last use, on its stream; if there is none before the end, after a wait there.
//   2. An `alloc` that comes after such a place, on a stream that knows the uses, takes over a dead
//      buffer whose boxes have the same bytes on every rank: `alloc : T over %g`.
// Invariant: no wait is added before an instruction that does work.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

Function assign_lifetimes(const Program& program, const Function& host);

}  // namespace hostir
