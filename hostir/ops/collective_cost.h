// How long a collective takes on a machine.
//
//   t(S, n) = base + hop * steps(n)                        latency of a small message
//           + ramp(n) * wire / (wire + ramp_bytes)         towards the protocols of large messages
//           + wire(S, n) / bandwidth + own(S, n) / local   bytes over the link, and the own share
//           + network latency * (hosts - 1)                where ranks lie on several hosts
// `steps` and `wire` are those of a ring (nccl-tests' busbw factors); between hosts the bandwidth
// is also limited by the network cards of the smallest host, and between two ranks by the channels
// that NCCL gives a pair, which depend on the size of the communicator. All from the members that
// take part, so the model reaches to numbers of ranks that were never measured. Absent: contention
// between collectives, which is the business of whoever queues them.
#pragma once

#include <cstdint>
#include <span>

#include "hostir/ir/machine.h"

namespace hostir {

/// Where the members of a group lie.
struct GroupPlace {
  int64_t ranks = 1;  // of the communicator
  int64_t hosts = 1;
  int64_t ranks_on_smallest_host = 1;
};
GroupPlace place_group(const Machine& machine, std::span<const int32_t> members);

/// Bytes that nccl-tests divides by the time to get algbw: total for gathers, scatters and
/// all_to_all, of one rank's buffer for the rest. `wire_bytes` is that times the busbw factor.
double wire_bytes(OpKind kind, double bytes, int64_t ranks);

/// Time in ns; 0 for a group of one that moves nothing to others. `bytes` as for `wire_bytes`.
double collective_ns(const Machine& machine, OpKind kind, double bytes, const GroupPlace& place);

}  // namespace hostir
