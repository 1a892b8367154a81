// What the backend stores for an issued task until it has finished.
#pragma once

#include <deque>
#include <vector>

#include "interp/sim/exchange.h"
#include "interp/sim/launch_plans.h"
#include "interp/sim/timeline.h"

namespace hostir::sim {

/// One collective or half of a send/recv, as called by the issuing rank.
struct StoredItem {
  OpKind kind = OpKind::all_reduce;
  DType dtype = DType::kF32;
  Reduction reduction = Reduction::kSum;
  int32_t root = -1;
  std::span<const std::pair<int32_t, int32_t>> pairs;
  Contribution contribution;
  int64_t received_bytes = 0;  // of the output that are written; the others keep their contents
};

struct StoredTask {
  enum class Work : uint8_t { kNone, kAlloc, kFree, kLaunch, kCommunication };
  Work work = Work::kNone;
  interp::TaskId id = interp::kNoTask;
  interp::CodeIndex code = 0;
  std::vector<BufferRef> buffers;
  std::vector<StoredItem> items;
  LaunchPlan* plan = nullptr;  // kLaunch
};

/// Keeps placements alive after the task that used them. Those of the Code are kept by address,
/// others are copied once per distinct content.
class PlacementPool {
 public:
  void adopt(const interp::Code& code);
  const Placement* keep(const Placement* placement);

 private:
  // memory ranges of the Code, sorted
  std::vector<std::pair<const Placement*, const Placement*>> ranges_;
  std::deque<Placement> copies_;
};

}  // namespace hostir::sim
