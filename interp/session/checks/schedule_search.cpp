#include "interp/session/checks/schedule_search.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/session/answers/fault_words.h"

namespace hostir::interp {

Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const std::function<Expected<RunResult>(int64_t)>& run) {
  ScheduleSearch out;
  for (const Fault& fault : first.faults) {
    const std::vector<std::string>& at = fault.record.instructions;
    if (is_race(fault.record.kind) && at.size() > 1)
      out.open.push_back(fmt::format("{} and {}", at[0], at[1]));
  }
  for (; out.tried < most; ++out.tried) {
    HOSTIR_ASSIGN_OR_RETURN(const RunResult result, run(out.tried));
    if (result.worst() != nullptr && first.worst() == nullptr) {
      out.other_schedule = out.tried;
      out.faults = result.faults;
      break;
    }
    const size_t outputs = std::min(first.outputs.size(), result.outputs.size());
    for (size_t i = 0; i < outputs && out.other_schedule == 0; ++i) {
      if (result.outputs[i].global == first.outputs[i].global) continue;
      out.other_schedule = out.tried;
      out.other_output = first.outputs[i].name;
    }
    if (out.other_schedule != 0) break;
  }
  return out;
}

}  // namespace hostir::interp
