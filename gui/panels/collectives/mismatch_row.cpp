#include "gui/panels/collectives/mismatch_row.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace hostir::gui {

const interp::LedgerRow* mismatch_of(const interp::Snapshot& shot) {
  if (shot.faults->empty()) return nullptr;  // avoids scanning the ledger of a run without faults
  for (const interp::LedgerRow& row : *shot.ledger) {
    if (row.state == interp::LedgerRow::State::kMismatch) return &row;
  }
  return nullptr;
}

std::vector<interp::Rank> callers_of(const interp::Snapshot& shot, const interp::LedgerRow& row) {
  std::vector<std::pair<std::string_view, std::vector<interp::Rank>>> sides;
  std::map<std::string_view, size_t> side_of;
  for (const interp::LedgerCell& c : row.cells) {
    if (c.call.empty()) continue;
    const auto [at, added] = side_of.emplace(c.call, sides.size());
    if (added) sides.push_back({c.call, {}});
    sides[at->second].second.push_back(c.rank());
  }
  std::stable_sort(sides.begin(), sides.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  if (sides.size() > 1) std::rotate(sides.begin(), sides.begin() + 1, sides.end());
  std::vector<interp::Rank> ranks;
  for (const auto& side : sides) ranks.insert(ranks.end(), side.second.begin(), side.second.end());
  const auto last = std::find(ranks.begin(), ranks.end(), shot.stop.rank);
  if (sides.size() == 1 && last != ranks.end()) std::rotate(ranks.begin(), last, last + 1);
  return ranks;
}

}  // namespace hostir::gui
