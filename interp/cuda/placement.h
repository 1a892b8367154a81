// Which process holds a rank, and on which of its devices.
//
// The rule: ranks are assigned to the processes in order and as evenly as possible; the first ones
// get one more. A process gives each of its ranks a device of its own if there are enough, and puts
// all of them on the first one otherwise: ranks that share a device meet by copies, others through
// NCCL, and a communicator cannot do both. If `--devices` names the devices, the ranks are spread
// over all of them. Where several processes of one computer see the same devices, process i of the
// computer uses device i modulo their number. `--place 0,0,1,1` names the device of every rank
// instead.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/ids.h"

namespace hostir::cuda {

using interp::Rank;

/// The ranks [first, end) of one of `parts` parts.
struct RankRange {
  Rank first = 0;
  Rank end = 0;
};
RankRange part_of_ranks(Rank ranks, int parts, int part);

struct PlaceRequest {
  Rank ranks = 1;
  int processes = 1;
  int process = 0;
  int local_processes = 1;  // on this machine
  int local_process = 0;
  int devices = 1;                 // that this process sees
  bool devices_are_named = false;  // by `--devices`
  std::string place;               // device by rank; empty: the rule
};

/// For each rank its device, as an index into those its process sees; -1 for ranks of other
/// processes.
/// Errors: `place` for an invalid `--place` or more processes than ranks.
Expected<std::vector<int>> place_ranks(const PlaceRequest& request);

/// `ranks 0..3 on device 0, ranks 4..7 on device 1`; omits ranks of other processes.
std::string describe_places(const std::vector<int>& devices);

}  // namespace hostir::cuda
