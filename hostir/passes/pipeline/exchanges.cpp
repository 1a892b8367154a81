#include "hostir/passes/pipeline/exchanges.h"

#include <algorithm>
#include <map>

namespace hostir::pipeline {

namespace {

// The transfer of an action's result to the rank of the next or previous stage, if there is one.
std::optional<Transfer> transfer_of(const Schedule& s, const Action& a) {
  if (a.work == Work::kBackwardWeight) return std::nullopt;
  const int64_t to = a.work == Work::kForward ? a.stage + 1 : a.stage - 1;
  if (to < 0 || to >= s.stages() || s.rank_of(to) == s.rank_of(a.stage)) return std::nullopt;
  return Transfer{a, s.rank_of(a.stage), s.rank_of(to)};
}

}  // namespace

Expected<std::vector<RankSteps>> plan_exchanges(const Schedule& schedule) {
  HOSTIR_ASSIGN_OR_RETURN(const Timetable times, make_timetable(schedule));
  // Ordered by rank and time. An action comes before the transfers at its end.
  std::vector<std::map<std::pair<int64_t, bool>, RankStep>> by_time(times.ranks.size());
  for (size_t rank = 0; rank < times.ranks.size(); ++rank) {
    for (const Slot& slot : times.ranks[rank]) {
      by_time[rank][{slot.end, false}].action = slot.action;
      const auto transfer = transfer_of(schedule, slot.action);
      if (!transfer) continue;
      for (const int64_t side : {transfer->from, transfer->to}) {
        by_time[static_cast<size_t>(side)][{slot.end, true}].transfers.push_back(*transfer);
      }
    }
  }
  std::vector<RankSteps> out;
  for (auto& steps : by_time) {
    RankSteps& mine = out.emplace_back();
    for (auto& [time, step] : steps) {
      std::sort(step.transfers.begin(), step.transfers.end());
      mine.push_back(std::move(step));
    }
  }
  return out;
}

}  // namespace hostir::pipeline
