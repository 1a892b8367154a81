// Builds a host function from kernels and reshards.
//
//   1. The function starts with the communicators, one per list of axes or pair of meshes, and the
//      stream "compute".
//   2. Every output of a kernel gets a buffer with the value's name and layout, allocated just
//      before it is written.
//   3. A kernel becomes a launch. A local reshard becomes a launch of a kernel with only that op.
//   4. A communicating reshard becomes a collective. An all_reduce works in place if the partial
//      value has no other use. If the blocks do not follow each other in memory in group order, a
//      `pack` launch before it or an `unpack` launch after it reorders them, through a buffer whose
//      type describes the blocks. If only their sizes must be stated, a view of the buffer
//      suffices.
//   5. A buffer that only gets another mesh is reinterpreted.
//   6. `from(...)` records which fusion instructions an instruction implements. The Origin of a
//      buffer that it writes says which value of the fusion the buffer then holds.
// The result is already correct: everything is on one stream and nothing is freed. Later passes
// assign streams and lifetimes.
#pragma once

#include "hostir/passes/host/segment.h"

namespace hostir {

struct HostLowering {
  Function host;
  std::vector<Function> kernels;  // the kernels of the segments and the new ones
};

/// `fusion` is the result of split_reshards(). `host_name` must be unused in `program`.
Expected<HostLowering> lower_to_host(const Program& program, const Function& original,
                                     const Function& fusion, const Segments& segments,
                                     const std::string& mesh, const std::string& host_name);

}  // namespace hostir
