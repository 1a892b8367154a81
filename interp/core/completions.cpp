#include <fmt/core.h>

#include <algorithm>

#include "interp/core/engine.h"

namespace hostir::interp {

void Engine::completed(const Completion& completion) {
  const Rank r = task_rank(completion.id);
  RankState& rank = state.ranks[static_cast<size_t>(r)];
  TaskRecord* task = rank.tasks.find(task_number(completion.id));
  if (task == nullptr || task->finished()) return;
  task->started_ns = completion.started_ns;
  task->finished_ns = completion.finished_ns;
  --rank.streams[task->stream].outstanding;
  --rank.outstanding;
  --state.in_flight;
  if (const int64_t bytes = task->alloc_bytes; bytes != 0) {
    rank.live_bytes += bytes;
    state.live_bytes += bytes;
    rank.peak_bytes = std::max(rank.peak_bytes, rank.live_bytes);
    if (bytes > 0 && state.live_bytes > options.max_memory_bytes) exceed_memory(r, *task);
  }
  if (task->link != TaskRecord::Link::kNone) mark_finished(*task, completion.id, r);
  if (sink != nullptr && logging == Interpreter::Logging::kOn) {
    FinishedRecord record;
    record.rank = r;
    record.task = completion.id;
    record.queued_ns = completion.queued_ns;
    record.started_ns = completion.started_ns;
    record.finished_ns = completion.finished_ns;
    record.clock = completion.clock;
    if (task->alloc_bytes != 0) record.live_bytes = rank.live_bytes;
    sink->finished(record);
  }
  if (observer != nullptr) observer->completed(completion);
  if (watcher != nullptr) watcher->completed(completion);
  if (rank.waits_for == completion.id) refresh(r);
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
      r == kNoRank ? nullptr : state.ranks[static_cast<size_t>(r)].tasks.find(task_number(id));
  if (task != nullptr) {
    fault.record.sentence = fmt::format("rank {}: {}: {}", r, name_of(task->code), reason.message);
    fault.record.ranks = {r};
    fault.record.instructions = {code->address(task->code)};
    fault.record.notes = {note_line(r, task->code, task->loop_path)};
    fault.spans = {code->source(task->code).span};
  }
  record_fault(std::move(fault));
}

void Engine::exceed_memory(Rank r, const TaskRecord& task) {
  Fault fault;
  fault.record.kind = "max_memory";
  fault.record.sentence =
      fmt::format("rank {}: {} of {} bytes brings all ranks to {} bytes, {} are allowed", r,
                  name_of(task.code), task.alloc_bytes, state.live_bytes, options.max_memory_bytes);
  fault.record.ranks = {r};
  fault.record.instructions = {code->address(task.code)};
  fault.record.notes = {note_line(r, task.code, task.loop_path)};
  fault.spans = {code->source(task.code).span};
  record_fault(std::move(fault));
}

void Engine::value(const ValueSummary& summary) {
  if (sink != nullptr && logging == Interpreter::Logging::kOn) sink->value(summary);
  if (observer != nullptr) observer->value(summary);
  if (watcher != nullptr) watcher->value(summary);
}

void Engine::mark_finished(const TaskRecord& task, TaskId id, Rank rank) {
  const auto finish = [&](Arrival& arrival) {
    arrival.finished = true;
    arrival.started_ns = task.started_ns;
    arrival.finished_ns = task.finished_ns;
  };
  const auto finish_pairs = [&] {
    for (Pair& pair : state.ledger.pairs) {
      if (pair.send.task == id) finish(pair.send);
      if (pair.recv.task == id) finish(pair.recv);
    }
  };
  if (task.link == TaskRecord::Link::kMeeting) {
    const Communicator& comm = code->communicators[task.comm];
    const auto r = static_cast<size_t>(rank);
    GroupLedger& group = state.ledger.group(task.comm, comm.group_of_rank[r]);
    if (!group.has(task.comm_sequence)) return;
    const auto position = runs_for_all() ? 0 : static_cast<uint32_t>(comm.position_of_rank[r]);
    finish(group.arrival(task.comm_sequence, position));
    ++group.head(task.comm_sequence).finished;
    return;
  }
  finish_pairs();
  if (task.link != TaskRecord::Link::kGroup) return;
  for (GroupLedger& group : state.ledger.groups) {
    for (uint64_t s = group.first(); s < group.end(); ++s) {
      for (uint32_t p = 0; p < group.members(); ++p) {
        if (group.arrival(s, p).task != id || group.arrival(s, p).finished) continue;
        finish(group.arrival(s, p));
        ++group.head(s).finished;
      }
    }
  }
}

}  // namespace hostir::interp
