// The implementation of Interpreter: takes decisions, receives completions, and concludes the run.
//
// The parts have headers of their own; each sees only the parts that its constructor names. All of
// them return false after a fatal fault; the caller then returns false at once. host_ops/ has the
// ops, which use the parts.
#pragma once

#include <memory>
#include <span>

#include "interp/core/engine/buffers.h"
#include "interp/core/engine/communication.h"
#include "interp/core/engine/faults.h"
#include "interp/core/engine/meetings.h"
#include "interp/core/engine/operands.h"
#include "interp/core/engine/races.h"
#include "interp/core/engine/remote.h"
#include "interp/core/engine/run_context.h"
#include "interp/core/engine/scheduler.h"
#include "interp/core/engine/tasks.h"

namespace hostir::interp {

class Engine final : public CompletionSink {
 public:
  Engine(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
         const InterpreterOptions& run_options);

  void start();
  StepResult step(Rank rank);
  /// Runs one decision of a rank that can take one; returns the task it issued.
  TaskId decide(Rank rank);
  /// scheduler.next_rank() after the last decision, for callers that always continue with it.
  Rank upcoming = kNoRank;
  /// Polls, concludes if nothing can move, and returns the next rank.
  Rank advance_until_runnable();
  void freeze(Rank rank, bool frozen);
  /// The operands the instruction would get if the rank executed it now. Changes only caches.
  Expected<OperandsNow> operands_now(Rank rank, CodeIndex index);
  /// The whole box of a buffer. For a rank of another process, the part that it reported.
  Expected<Tensor> read_part(Rank rank, const BufferRef& ref) const;
  Expected<void> edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                      std::span<const std::byte> data);

  // ---- completions (completions.cpp) ----
  void completed(const Completion& completion) override;
  void value(const ValueSummary& summary) override;
  void failed(TaskId task, const Error& why) override;

  RunContext run;
  FaultReporter faults{run};
  RaceDetector races{run, faults};
  Operands operands{run, faults};
  Buffers buffers{run, faults, races};
  TaskIssuer tasks{run, faults, operands};
  CommunicationResolver communication{run, faults, operands};
  Meetings meetings{run, faults, races};
  Scheduler scheduler{run, operands};
  RemoteParts remote;
  CompletionSink* watcher = nullptr;  // the stepper's breakpoints

 private:
  Progress poll() {
    if (run.state.in_flight == 0) return Progress::kQuiescent;
    return run.backend.poll({scheduler.hosts(), scheduler.take_moved_hosts()}, *this);
  }
  Rank advance_when_idle(Progress found);
  Progress wait();
  bool exceed_steps(const Step& step);
  void exceed_memory(Rank rank, const TaskRecord& task);
  void log_step(const Step& step, int64_t start_ns, LoopPathId path);
  // conclude.cpp
  void conclude();
  void give_up_waiting();
  void ask_peers();
  void check_sends();
  void check_leaks();
};

/// `execute_<mnemonic>` in host_ops/<mnemonic>.cpp.
using ExecuteOp = bool (*)(Engine& engine, Step& step);
ExecuteOp execute_op(OpKind kind);

}  // namespace hostir::interp
