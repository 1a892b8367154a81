#include "interp/sim/stored_task.h"

#include <algorithm>
#include <functional>

namespace hostir::sim {

void PlacementPool::adopt(const interp::Code& code) {
  ranges_.clear();
  for (const interp::LayoutTable& layout : code.layouts) {
    const std::vector<Placement>& placements = layout.by_rank.distinct();
    if (placements.empty()) continue;
    ranges_.emplace_back(placements.data(), placements.data() + placements.size());
  }
  std::sort(ranges_.begin(), ranges_.end());
}

const Placement* PlacementPool::keep(const Placement* placement) {
  if (placement == nullptr) return nullptr;
  const std::less<const Placement*> before;
  auto at = std::upper_bound(ranges_.begin(), ranges_.end(), placement,
                             [&](const Placement* p, const auto& r) { return before(p, r.first); });
  if (at != ranges_.begin() && before(placement, (--at)->second)) return placement;
  const auto found = std::find(copies_.begin(), copies_.end(), *placement);
  return found != copies_.end() ? &*found : &copies_.emplace_back(*placement);
}

}  // namespace hostir::sim
