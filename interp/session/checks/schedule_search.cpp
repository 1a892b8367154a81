#include "interp/session/checks/schedule_search.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/session/answers/fault_words.h"

namespace hostir::interp {

namespace {

// The first result that differs; empty if all are bitwise equal.
std::string different_output(const RunResult& a, const RunResult& b) {
  const size_t outputs = std::min(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < outputs; ++i) {
    if (!(a.outputs[i].global == b.outputs[i].global)) return a.outputs[i].name;
  }
  return {};
}

// Errors of kinds that the first run does not have: differing replicas, a hang.
std::vector<Fault> new_faults(const RunResult& first, const RunResult& other) {
  std::vector<Fault> out;
  for (const Fault& fault : other.faults) {
    const bool known = std::any_of(first.faults.begin(), first.faults.end(), [&](const Fault& f) {
      return f.record.kind == fault.record.kind;
    });
    if (fault.severity == Severity::kError && !known) out.push_back(fault);
  }
  return out;
}

Expected<void> force(ScheduleSearch& out, const RunResult& first, const FaultRecord& race,
                     const ScheduleRuns& runs) {
  const std::vector<std::string>& at = race.instructions;
  // Try one rank first, the smaller change; replicas may need the delay on all ranks.
  std::vector<Rank> where = {race.ranks.empty() ? Rank{0} : race.ranks.front()};
  if (race.ranks.size() > 1) where.push_back(kNoRank);
  for (const bool second_is_late : {true, false}) {
    ForcedOrder order;
    order.late = second_is_late ? at[1] : at[0];
    order.first = second_is_late ? at[0] : at[1];
    for (const Rank rank : where) {
      if (order.differs()) break;
      HOSTIR_ASSIGN_OR_RETURN(const RunResult result, runs.late(order.late, rank));
      order.rank = rank;
      order.output = different_output(first, result);
      order.faults = new_faults(first, result);
    }
    out.forced.push_back(std::move(order));
  }
  return {};
}

}  // namespace

Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const ScheduleRuns& runs) {
  ScheduleSearch out;
  for (const Fault& fault : first.faults) {
    const std::vector<std::string>& at = fault.record.instructions;
    if (!is_race(fault.record.kind) || at.size() < 2) continue;
    out.open.push_back(fmt::format("{} and {}", at[0], at[1]));
    const bool has_room = static_cast<int64_t>(out.forced.size()) < 2 * most;
    if (runs.late && at[0] != at[1] && has_room) HOSTIR_TRY(force(out, first, fault.record, runs));
  }
  const bool found = std::any_of(out.forced.begin(), out.forced.end(),
                                 [](const ForcedOrder& order) { return order.differs(); });
  if (found) return out;
  for (; out.tried < most; ++out.tried) {
    HOSTIR_ASSIGN_OR_RETURN(const RunResult result, runs.numbered(out.tried));
    out.other_output = different_output(first, result);
    out.faults = new_faults(first, result);
    if (out.other_output.empty() && out.faults.empty()) continue;
    out.other_schedule = out.tried;
    break;
  }
  return out;
}

}  // namespace hostir::interp
