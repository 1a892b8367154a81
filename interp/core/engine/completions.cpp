#include <fmt/core.h>

#include <algorithm>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

void Engine::completed(const Completion& completion) {
  const Rank r = task_rank(completion.id);
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  TaskRecord* task = rank.tasks.find(task_number(completion.id));
  if (task == nullptr || task->finished()) return;
  task->started_ns = completion.started_ns;
  task->finished_ns = completion.finished_ns;
  --rank.streams[task->stream].outstanding;
  --rank.outstanding;
  --run.state.in_flight;
  if (const int64_t bytes = task->alloc_bytes; bytes != 0) {
    rank.live_bytes += bytes;
    run.state.live_bytes += bytes;
    rank.peak_bytes = std::max(rank.peak_bytes, rank.live_bytes);
    const bool exceeds = bytes > 0 && run.state.live_bytes > run.options.max_memory_bytes;
    if (exceeds && !run.state.failed) exceed_memory(r, *task);
  }
  if (task->link != TaskRecord::Link::kNone) meetings.mark_finished(*task, completion.id, r);
  if (run.is_logging()) {
    FinishedRecord record;
    record.rank = r;
    record.task = completion.id;
    record.queued_ns = completion.queued_ns;
    record.started_ns = completion.started_ns;
    record.finished_ns = completion.finished_ns;
    record.clock = completion.clock;
    if (task->alloc_bytes != 0) record.live_bytes = rank.live_bytes;
    run.sink->finished(record);
  }
  if (watcher != nullptr) watcher->completed(completion);
  if (rank.waits_for == completion.id) scheduler.refresh(r);
}

// Reports a device error, with rank and instruction if they are known.
void Engine::failed(TaskId id, const Error& why) {
  const Diagnostic& reason = why.diagnostics.front();
  Fault fault;
  fault.kind = why.kind;
  fault.record.kind = reason.id;
  fault.record.sentence = reason.message;
  const Rank r = id == kNoTask ? kNoRank : task_rank(id);
  const TaskRecord* task =
      r == kNoRank ? nullptr : run.state.ranks[static_cast<size_t>(r)].tasks.find(task_number(id));
  if (task != nullptr) {
    fault.record.sentence =
        fmt::format("rank {}: {}: {}", r, faults.name_of(task->code), reason.message);
    fault.record.ranks = {r};
    fault.record.instructions = {run.code->address(task->code)};
    fault.record.notes = {faults.note_line(r, task->code, task->loop_path)};
    fault.spans = {run.code->source(task->code).span};
  }
  faults.add(std::move(fault));
}

void Engine::exceed_memory(Rank r, const TaskRecord& task) {
  Fault fault;
  fault.record.kind = "max_memory";
  fault.record.sentence =
      fmt::format("rank {}: {} of {} bytes brings all ranks to {} bytes, {} are allowed", r,
                  faults.name_of(task.code), task.alloc_bytes, run.state.live_bytes,
                  run.options.max_memory_bytes);
  fault.record.ranks = {r};
  fault.record.instructions = {run.code->address(task.code)};
  fault.record.notes = {faults.note_line(r, task.code, task.loop_path)};
  fault.spans = {run.code->source(task.code).span};
  faults.add(std::move(fault));
}

void Engine::value(const ValueSummary& summary) {
  if (run.is_logging()) run.sink->value(summary);
  if (watcher != nullptr) watcher->value(summary);
}

}  // namespace hostir::interp
