#include "traces/lineage.h"

#include <limits>

namespace hostir::traces {

Expected<Lineage> Lineage::load(Database& database) {
  struct Opening {
    uint32_t parent = 0;
    uint64_t at = 0;
  };
  std::map<uint32_t, Opening> openings;
  Lineage lineage;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT branch, number, CAST(detail AS INTEGER) FROM decision "
                       "WHERE kind = 'branch' ORDER BY id"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    const auto branch = static_cast<uint32_t>(rows.integer(0));
    openings[branch] = {static_cast<uint32_t>(rows.integer(2)),
                        static_cast<uint64_t>(rows.integer(1))};
    lineage.newest_ = branch;
  }
  if (openings.empty()) return lineage;
  uint32_t branch = lineage.newest_;
  uint64_t end = std::numeric_limits<uint64_t>::max();
  while (lineage.ends_.emplace(branch, end).second) {
    const auto opening = openings.find(branch);
    if (opening == openings.end()) break;
    branch = opening->second.parent;
    end = std::min(end, opening->second.at);
  }
  return lineage;
}

}  // namespace hostir::traces
