#include "interp/core/engine/tasks.h"

#include <algorithm>

namespace hostir::interp {

TaskRecord& TaskIssuer::begin_task(Step& step, StreamIndex stream) {
  RankState& rank = step.rank_state;
  StreamState& queue = rank.streams[stream];
  uint32_t* row = run_.clock_row(rank, stream);
  if (queue.host_epoch != rank.host_epoch) {
    const uint32_t* host = run_.clock_row(rank, run_.code->streams.size());
    for (size_t s = 0; s < run_.clock_stride; ++s) row[s] = std::max(row[s], host[s]);
    queue.host_epoch = rank.host_epoch;
  }
  row[stream] = ++queue.issued;
  if (rank.tasks.wants_compaction()) compact_tasks(rank);
  TaskRecord& task = rank.tasks.add(row);
  task.code = step.index;
  task.loop_path = rank.loop_path;
  task.stream = stream;
  task.sequence = queue.issued;
  task.issued_ns = rank.clock_ns;
  step.task = make_task_id(step.rank, task.number);
  return task;
}

// The events the stream waits for that may still be pending, kept as dependencies of the task.
std::span<const TaskId> TaskIssuer::take_waits(RankState& rank, StreamState& queue,
                                               const TaskRecord& task) {
  wait_scratch_.clear();
  for (const TaskId on : queue.waits) {
    const TaskRecord* awaited = rank.tasks.find(task_number(on));
    if (awaited == nullptr) continue;
    if (awaited->finished() && awaited->finished_ns <= rank.clock_ns) continue;
    wait_scratch_.push_back(on);
    rank.dependencies.push_back({task.number, on});
  }
  queue.waits.clear();
  return wait_scratch_;
}

bool TaskIssuer::issue(Step& step, TaskRecord& task, std::span<const BufferRef> buffers,
                       std::span<const CommunicationItem> items) {
  RankState& rank = step.rank_state;
  StreamState& queue = rank.streams[task.stream];
  Task out;
  out.id = step.task;
  out.rank = step.rank;
  out.code = step.index;
  out.loop_path = task.loop_path;
  out.stream = task.stream;
  out.issued_ns = rank.clock_ns;
  if (!queue.waits.empty()) out.waits_for = take_waits(rank, queue, task);
  out.buffers = buffers;
  out.items = items;
  ++queue.outstanding;
  ++rank.outstanding;
  ++run_.state.in_flight;
  if (run_.plans_tasks && !find_plan(step, out)) return false;
  const Error* refused = run_.backend.issue({&out, 1});
  return refused == nullptr || faults_.refuse_task(step, *refused);
}

// The backend's plan, made at the first execution and kept while the operand layouts stay the same.
bool TaskIssuer::find_plan(const Step& step, Task& task) {
  IssuePlan& known = operands_.plan(step);
  const auto same = [&] {
    if (!known.backend_planned || known.planned_placements.size() != 2 * task.buffers.size()) {
      return false;
    }
    for (size_t i = 0; i < task.buffers.size(); ++i) {
      const BufferRef& ref = task.buffers[i];
      if (known.planned_placements[2 * i] != ref.placement ||
          known.planned_placements[2 * i + 1] != ref.after) {
        return false;
      }
    }
    return task.items.empty() || known.communication_fixed;
  };
  if (!same()) {
    auto made = run_.backend.plan(task);
    if (!made) return faults_.refuse_task(step, made.error());
    known.backend_plan = std::move(*made);
    known.backend_planned = true;
    known.planned_placements.clear();
    for (const BufferRef& ref : task.buffers) {
      known.planned_placements.push_back(ref.placement);
      known.planned_placements.push_back(ref.after);
    }
  }
  task.plan = known.backend_plan.get();
  return true;
}

void TaskIssuer::set_event(Step& step, size_t result) {
  if (result < step.code.results.size()) {
    step.rank_state.registers[step.code.results[result]].value = static_cast<int64_t>(step.task);
  }
}

void TaskIssuer::compact_tasks(RankState& rank) {
  std::vector<uint64_t> held;
  const auto hold = [&](int64_t value) {
    if (value >= 0) held.push_back(task_number(static_cast<TaskId>(value)));
  };
  for (const Register& r : rank.registers) {
    if (r.slot == kNoSlot) hold(r.value);
  }
  for (const StreamState& s : rank.streams) {
    for (const TaskId on : s.waits) hold(static_cast<int64_t>(on));
  }
  std::sort(held.begin(), held.end());
  rank.tasks.compact(held);
  std::erase_if(rank.dependencies, [&](const TaskDependency& d) {
    const TaskRecord* task = rank.tasks.find(d.task);
    return task == nullptr || task->finished();
  });
}

}  // namespace hostir::interp
