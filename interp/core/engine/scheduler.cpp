#include "interp/core/engine/scheduler.h"

#include "hostir/ops/record.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

Scheduler::Scheduler(RunContext& run, Operands& operands) : run_(run), operands_(operands) {
  for (const CodeInstruction& c : run.code->instructions) {
    Dispatch& d = dispatch_.emplace_back();
    if (c.role != CodeRole::kInstruction) continue;
    d.execute = execute_op(c.kind);
    d.waits_on_host = record(c.kind).role == HostRole::kWait && c.stream == kNoStream;
  }
  const size_t n = run.state.ranks.size();
  hosts_.resize(n);
  host_moved_.resize(n);
  run_queue_ = RunQueue(n);
}

void Scheduler::refresh_all() {
  for (Rank r = 0; r < run_.rank_count(); ++r) refresh(r);
}

void Scheduler::refresh(Rank r) {
  RankState& rank = run_.state.ranks[static_cast<size_t>(r)];
  HostState& host = hosts_[static_cast<size_t>(r)];
  if (rank.status == RankStatus::kRunnable || rank.status == RankStatus::kBlocked) {
    rank.status = RankStatus::kRunnable;
    rank.waits_for = kNoTask;
    const CodeInstruction& next = run_.code->instructions[rank.pc];
    if (dispatch_[rank.pc].waits_on_host) {
      const TaskId event = event_of(rank, next.operands.empty() ? kNoRegister : next.operands[0]);
      const TaskRecord* task = event == kNoTask ? nullptr : rank.tasks.find(task_number(event));
      if (task != nullptr && !task->finished()) {
        rank.status = RankStatus::kBlocked;
        rank.waits_for = event;
      }
    }
  }
  const bool runnable = rank.status == RankStatus::kRunnable;
  host.kind = runnable                              ? HostState::Kind::kRunnable
              : rank.status == RankStatus::kBlocked ? HostState::Kind::kBlocked
              : rank.status == RankStatus::kRemote  ? HostState::Kind::kRemote
                                                    : HostState::Kind::kDone;
  host.clock_ns = rank.clock_ns;
  host.waits_for = rank.waits_for;
  run_queue_.set(r, runnable && !rank.frozen ? rank.clock_ns : RunQueue::kCannotRun);
  note_host(r);
}

void Scheduler::run_glue(RankState& rank) {
  while (true) {
    const CodeInstruction& c = run_.code->instructions[rank.pc];
    if (c.role == CodeRole::kInstruction) return;
    if (c.role == CodeRole::kJump) {
      rank.pc = c.jump;
      continue;
    }
    LoopFrame& frame = rank.loops.back();
    // An empty body does nothing in any iteration: skip the loop.
    const bool empty = c.jump == rank.pc;
    if (!empty && frame.index + 1 < frame.upper) {
      ++frame.index;
      const size_t known = run_.paths.size();
      frame.path = run_.paths.next(frame.path);
      if (run_.paths.size() != known && run_.sink != nullptr) {
        run_.sink->loop_path(frame.path, frame.outer, frame.loop, frame.index);
      }
      rank.loop_path = frame.path;
      rank.registers[c.index_register].value = frame.index;
      rank.pc = c.jump;
      continue;
    }
    rank.loop_path = frame.outer;
    rank.loops.pop_back();
    operands_.move_registers(rank, c.exit_moves);
    rank.pc = c.end;
  }
}

}  // namespace hostir::interp
