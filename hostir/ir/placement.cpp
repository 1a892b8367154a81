#include "hostir/ir/placement.h"

#include <algorithm>

namespace hostir {

bool Placement::blocks_fill_box() const {
  if (blocks.empty()) return true;
  // Blocks come from cuts of one tensor, so two different blocks are disjoint.
  std::vector<std::vector<int64_t>> begins;
  int64_t volume = 0;
  for (const Box& block : blocks) {
    if (block.empty()) continue;
    begins.push_back(block.lo);
    volume += block.volume();
  }
  std::sort(begins.begin(), begins.end());
  const bool repeats = std::adjacent_find(begins.begin(), begins.end()) != begins.end();
  return !repeats && volume == box.volume();
}

std::vector<Box> Placement::runs() const {
  if (blocks.empty()) return {box};
  std::vector<Box> out;
  out.reserve(blocks.size());
  for (const Box& block : blocks) out.push_back(block.intersect(box));
  return out;
}

}  // namespace hostir
