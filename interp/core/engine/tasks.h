// Tasks: their number and place on a stream, their clock, and passing them to the backend.
#pragma once

#include <span>
#include <vector>

#include "interp/core/engine/operands.h"

namespace hostir::interp {

class TaskIssuer {
 public:
  TaskIssuer(RunContext& run, FaultReporter& faults, Operands& operands)
      : run_(run), faults_(faults), operands_(operands) {}

  /// Assigns the task its number and its place on the stream; sets `step.task`.
  TaskRecord& begin_task(Step& step, StreamIndex stream);
  /// Passes the task to the backend; false after a fault if the backend refuses it.
  bool issue(Step& step, TaskRecord& task, std::span<const BufferRef> buffers,
             std::span<const CommunicationItem> items);
  /// Makes result number `result` of the instruction the event of its task.
  static void set_event(Step& step, size_t result);

 private:
  bool find_plan(const Step& step, Task& task);
  std::span<const TaskId> take_waits(RankState& rank, StreamState& queue, const TaskRecord& task);
  static void compact_tasks(RankState& rank);

  RunContext& run_;
  FaultReporter& faults_;
  Operands& operands_;
  std::vector<TaskId> wait_scratch_;
};

}  // namespace hostir::interp
