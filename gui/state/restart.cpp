#include "gui/state/restart.h"

#include <fmt/core.h>

#include <map>

namespace hostir::gui {

namespace {

// Adds commands that restore the current step scope and focus.
void add_scope(const interp::Snapshot& shot, std::vector<std::string>& out) {
  const bool all =
      shot.step_scope.empty() || shot.step_scope.size() == static_cast<size_t>(shot.rank_count());
  std::string scope;
  for (const interp::Rank r : shot.step_scope)
    scope += (scope.empty() ? "" : ",") + std::to_string(r);
  out.push_back("rank " + (all ? "all" : scope));
  out.push_back(fmt::format("focus {}", shot.focus));
}

}  // namespace

std::vector<std::string> step_of(const interp::Snapshot& shot, interp::Rank rank) {
  std::vector<std::string> out = {fmt::format("rank {}", rank), "step"};
  add_scope(shot, out);
  return out;
}

std::vector<std::string> commands_back_to(const interp::Snapshot& shot) {
  if (shot.position.decision == 0) return {};
  std::map<uint64_t, std::string> ranks_of;  // keyed by number of steps
  for (const auto& rank : shot.ranks) {
    std::string& list = ranks_of[rank->steps];
    list += (list.empty() ? "" : ",") + std::to_string(rank->rank);
  }
  std::vector<std::string> out;
  const bool breaks = !shot.breakpoints->empty();
  if (breaks) out.emplace_back("disable");
  for (const auto& [steps, ranks] : ranks_of) {
    if (steps == 0) continue;
    out.push_back(ranks_of.size() == 1 ? "rank all" : "rank " + ranks);
    out.push_back(fmt::format("step {}", steps));
  }
  if (breaks) out.emplace_back("enable");
  add_scope(shot, out);
  return out;
}

}  // namespace hostir::gui
