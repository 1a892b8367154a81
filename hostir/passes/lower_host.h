// From kernels and reshards to a host function.
//
//   1. Communicators and the stream "compute" at the top, one communicator per list of axes.
//   2. Every value that leaves a kernel gets a buffer with the value's name and layout, allocated
//      just before it is written.
//   3. A kernel becomes a launch. A local reshard becomes a launch of a kernel with that one op.
//   4. A communicating reshard becomes its collective. all_reduce works in place where nobody else
//      needs the partial value. Where blocks do not lie along dimension 0 in group order, a `pack`
//      launch before or an `unpack` launch after brings them there, through a buffer whose type
//      names the blocks.
//   5. `from(...)` says which instructions of the fusion each one serves.
// The result is correct as it stands: everything on one stream, nothing freed. Later passes assign
// streams and lifetimes.
#pragma once

#include "hostir/passes/segment.h"

namespace hostir {

/// A buffer as one instruction leaves it, and the fusion's value that it then holds.
struct Provenance {
  std::string buffer;  // of the host function
  uint32_t write = 0;  // 1-based: the n-th instruction that writes it; 0: a parameter
  std::string value;   // of the fusion
  Sharding sharding;   // of the buffer then; partial if `unreduced` is not empty
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

struct HostLowering {
  Function host;
  std::vector<Function> kernels;  // those of the segments and the new ones
  std::vector<Provenance> provenance;
};

/// `fusion` after split_reshards, `origins` as it left them; `host_name` free in `program`.
Expected<HostLowering> lower_to_host(
    const Program& program, const Function& original, const Function& fusion,
    const Segments& segments, const std::vector<std::pair<std::string, std::string>>& origins,
    const std::string& mesh, const std::string& host_name);

}  // namespace hostir
