#include "interp/session/log/lineage.h"

#include <algorithm>

namespace hostir::interp {

Lineage::Lineage(const std::map<uint32_t, Opening>& openings, uint32_t branch, uint64_t end) {
  while (ends_.emplace(branch, end).second) {
    const auto opening = openings.find(branch);
    if (opening == openings.end()) return;
    branch = opening->second.parent;
    end = std::min(end, opening->second.at);
  }
}

}  // namespace hostir::interp
