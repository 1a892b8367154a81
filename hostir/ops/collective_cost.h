// The time of a collective on a machine.
//
//   t(S, n) = base + hop * steps(n)                        latency of a small message
//           + ramp(n) * wire / (wire + ramp_bytes)         transition to large-message protocols
//           + wire(S, n) / bandwidth + own(S, n) / local   bytes over the link, and the own share
//           + network latency * network hops               if the ranks are on several hosts
// `steps` and `wire` are those of a ring (nccl-tests' busbw factors). An all_reduce between hosts
// takes NCCL's tree where that is faster: its steps grow with the logarithm of the hosts. The
// latency of a step is at least that of the local link, which also limits the bandwidth. Between
// hosts, the network cards of the smallest host limit it too. Between two ranks, so do the channels
// that NCCL assigns to a pair, whose number depends on the size of the communicator. The model
// depends only on the participating ranks, so it extends to rank counts that were not measured.
// Contention between collectives is not modelled here; the code that queues them handles it.
#pragma once

#include <cstdint>
#include <span>

#include "hostir/ir/machine.h"

namespace hostir {

/// How the members of a group are distributed over hosts.
struct GroupPlace {
  int64_t ranks = 1;  // in the communicator
  int64_t hosts = 1;
  int64_t ranks_on_smallest_host = 1;
};
GroupPlace place_group(const Machine& machine, std::span<const int32_t> members);

/// Bytes over one rank's link: `bytes` times the busbw factor. `bytes` is the size that nccl-tests
/// uses for algbw: the total for gathers, scatters and all_to_all, else one rank's buffer.
double wire_bytes(OpKind kind, double bytes, int64_t ranks);

/// Time in ns; 0 for a group of one rank. `bytes` as for wire_bytes().
double collective_ns(const Machine& machine, OpKind kind, double bytes, const GroupPlace& place);

}  // namespace hostir
