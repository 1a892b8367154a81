// Allocations of one rank.
//
// A layout belongs to a version of a buffer: `type` is the type of the current version. Bytes are
// logical bytes of this rank, even if a backend shares memory between replicas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/type.h"
#include "interp/core/ids.h"

namespace hostir::interp {

struct AllocationSnapshot {
  AllocationId id;
  std::string name;     // of the value that allocated it, without '%'
  Type type;            // of the current version: global shape and layout
  Placement placement;  // of the current version on this rank
  int64_t bytes = 0;
  uint64_t version = 0;  // number of completed and issued writes
  bool parameter = false;
  bool live = true;
  bool written = false;  // false: contents are undefined
  TaskId last_writer = kNoTask;
  std::string written_by;  // address of the last writer; empty: a parameter, or never written
};

struct MemorySnapshot {
  Rank rank = 0;
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  std::vector<AllocationSnapshot> allocations;  // live ones first, each part in order of allocation
};

}  // namespace hostir::interp
