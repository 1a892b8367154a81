// Writes the operations of one rank as instructions of a region.
#pragma once

#include <functional>
#include <map>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/pipeline/rank_ops.h"

namespace hostir::pipeline {

/// The host function that is being built, and what all ranks share in it.
struct PipelineHost {
  Function& host;
  UniqueNames& names;
  ValueId comm;     // over {pp}
  ValueId compute;  // streams
  ValueId p2p;
  ValueId collective;  // "comm" of the phases; invalid if none has it
  std::map<std::pair<int64_t, size_t>, ValueId> parameters;  // by stage and index
  std::vector<ValueId> results;
  std::vector<Sharding> reduced;             // by result: its layout at the end
  std::map<std::string, ValueId> sums = {};  // communicators, by the axes that are summed over
  /// Makes the kernel that starts a sum (`first`) or adds to it. It adds the whole value (`whole`)
  /// or the share that a micro-batch has in its batch.
  std::function<std::string(const ShardType&, bool first, bool whole)> add_kernel;
};

void emit_rank(PipelineHost& to, const RankOps& rank, RegionId region);

}  // namespace hostir::pipeline
