#include <algorithm>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_wait(Engine& engine, Step& step);

// On a stream: its next task starts after the event. On the host: the rank was blocked until the
// event completed; its clock continues from there.
bool execute_wait(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  const size_t n = engine.run.code->streams.size();
  const TaskId event = event_of(rank, step.code.operands[0]);
  step.waits_for = event;
  if (event == kNoTask) return true;
  const TaskRecord* task = rank.tasks.find(task_number(event));
  if (task == nullptr) return true;
  const std::span<const uint32_t> known = rank.tasks.clock(*task);
  if (step.code.stream != kNoStream) {
    uint32_t* row = engine.run.clock_row(rank, step.code.stream);
    for (size_t s = 0; s < n; ++s) row[s] = std::max(row[s], known[s]);
    if (task->stream == step.code.stream) return true;
    if (!task->finished() || task->finished_ns > rank.clock_ns) {
      rank.streams[step.code.stream].waits.push_back(event);
    }
    return true;
  }
  uint32_t* host = engine.run.clock_row(rank, n);
  for (size_t s = 0; s < n; ++s) host[s] = std::max(host[s], known[s]);
  ++rank.host_epoch;
  if (task->finished_ns > rank.clock_ns) {
    step.waited_ns = task->finished_ns - rank.clock_ns;
    rank.clock_ns = task->finished_ns;
  }
  return true;
}

}  // namespace hostir::interp
