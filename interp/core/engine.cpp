#include "interp/core/engine.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"

namespace hostir::interp {

Engine::Engine(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
               const InterpreterOptions& run_options)
    : code(std::move(program)), backend(device), sink(log), options(run_options) {
  const Capabilities can = backend.capabilities();
  clock_is_measured = can.clock != ClockDomain::kVirtual;
  plans_tasks = can.plans_tasks;
  const auto n = runs_for_all() ? size_t{1} : static_cast<size_t>(code->rank_count);
  shapes.emplace_back();
  plans.resize(code->instructions.size() * n);
  for (const CodeInstruction& c : code->instructions) {
    Dispatch& d = dispatch.emplace_back();
    if (c.role != CodeRole::kInstruction) continue;
    d.execute = execute_op(c.kind);
    d.waits_on_host = record(c.kind).role == HostRole::kWait && c.stream == kNoStream;
  }
  hosts.resize(n);
  host_moved_.resize(n);
  run_queue = RunQueue(n);
  state.ledger.prepare(*code, runs_for_all());
  const size_t streams = code->streams.size();
  clock_stride = TaskTable::clock_stride(streams);
  for (size_t r = 0; r < n; ++r) {
    RankState& rank = state.ranks.emplace_back();
    rank.registers.resize(code->register_count);
    rank.tasks = TaskTable(streams);
    rank.streams.resize(streams);
    rank.clocks.assign((streams + 1) * clock_stride, 0);
    const auto& started = options.ranks;
    if (!started.empty() &&
        std::find(started.begin(), started.end(), static_cast<Rank>(r)) == started.end()) {
      rank.status = RankStatus::kNotStarted;
    }
    const auto& here = can.local_ranks;
    if (!here.empty() && std::find(here.begin(), here.end(), static_cast<Rank>(r)) == here.end()) {
      rank.status = RankStatus::kRemote;
    }
  }
}

void Engine::start() {
  const bool contents = backend.capabilities().reads_values;
  const Function& entry = *code->functions[0];
  for (Rank r = 0; r < rank_count(); ++r) {
    RankState& rank = state.ranks[static_cast<size_t>(r)];
    for (size_t p = 0; p < code->parameters.size(); ++p) {
      const uint32_t reg = code->parameters[p];
      const LayoutIndex layout = code->registers[reg].layout;
      const LayoutTable& table = code->layouts[layout];
      Allocation& a = rank.allocations.emplace_back();
      a.id = AllocationId(rank.next_allocation++);
      a.reg = reg;
      a.layout = layout;
      a.placement = table.is_static() ? &table.by_rank[static_cast<size_t>(r)] : nullptr;
      a.declared = a.placement;
      a.bytes = a.placement != nullptr ? a.placement->local_bytes() : 0;
      a.parameter = true;
      a.writable = entry.params[p].inout;
      a.live = true;
      a.initialised = !contents || a.bytes == 0;
      Register& name = rank.registers[reg];
      name.value = a.id.index;
      name.slot = static_cast<uint32_t>(rank.allocations.size() - 1);
      name.placement = a.placement;
      rank.live_bytes += a.bytes;
    }
    if (rank.status == RankStatus::kRemote) rank.live_bytes = 0;
    rank.peak_bytes = rank.live_bytes;
    state.live_bytes += rank.live_bytes;
    execute_glue(rank);
  }
  rebuild_hosts();
}

void Engine::rebuild_hosts() {
  for (Rank r = 0; r < rank_count(); ++r) refresh(r);
}

void Engine::refresh(Rank r) {
  RankState& rank = state.ranks[static_cast<size_t>(r)];
  HostState& host = hosts[static_cast<size_t>(r)];
  if (rank.status == RankStatus::kRunnable || rank.status == RankStatus::kBlocked) {
    rank.status = RankStatus::kRunnable;
    rank.waits_for = kNoTask;
    const CodeInstruction& next = code->instructions[rank.pc];
    if (dispatch[rank.pc].waits_on_host) {
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
  run_queue.set(r, runnable && !rank.frozen ? rank.clock_ns : RunQueue::kCannotRun);
  note_host(r);
}

// refresh() after the rank's own decision, for the common case: it was runnable and still is.
void Engine::advance(Rank r, RankState& rank) {
  if (rank.status != RankStatus::kRunnable || dispatch[rank.pc].waits_on_host) return refresh(r);
  hosts[static_cast<size_t>(r)].clock_ns = rank.clock_ns;
  run_queue.set(r, rank.clock_ns);
  note_host(r);
}

void Engine::run_glue(RankState& rank) {
  while (true) {
    const CodeInstruction& c = code->instructions[rank.pc];
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
      const size_t known = paths.size();
      frame.path = paths.next(frame.path);
      if (paths.size() != known && sink != nullptr) {
        sink->loop_path(frame.path, frame.outer, frame.loop, frame.index);
      }
      rank.loop_path = frame.path;
      rank.registers[c.index_register].value = frame.index;
      rank.pc = c.jump;
      continue;
    }
    rank.loop_path = frame.outer;
    rank.loops.pop_back();
    move_registers(rank, c.exit_moves);
    rank.pc = c.end;
  }
}

StepResult Engine::step(Rank r) {
  RankState& rank = state.ranks[static_cast<size_t>(r)];
  StepResult result;
  result.rank = r;
  result.code = rank.pc;
  if (run_queue.key(r) == RunQueue::kCannotRun || state.failed) {
    using Outcome = StepResult::Outcome;
    result.outcome = state.failed                           ? Outcome::kFault
                     : rank.status == RankStatus::kBlocked  ? Outcome::kBlocked
                     : rank.status == RankStatus::kRunnable ? Outcome::kFrozen
                                                            : Outcome::kDone;
    return result;
  }
  const size_t faults = state.faults.size();
  result.task = decide(r);
  if (state.faults.size() != faults) result.outcome = StepResult::Outcome::kFault;
  return result;
}

TaskId Engine::decide(Rank r) {
  RankState& rank = state.ranks[static_cast<size_t>(r)];
  Step step{rank, code->instructions[rank.pc], r, rank.pc, rank.pc + 1};
  const int64_t key = rank.clock_ns;
  const LoopPathId path = rank.loop_path;
  rank.clock_ns = clock_is_measured ? std::max(key, backend.now_ns()) : key + options.issue_ns;
  const int64_t start_ns = clock_is_measured ? rank.clock_ns : key;
  ++rank.steps;
  const bool ok = state.position < options.max_steps ? dispatch[rank.pc].execute(*this, step)
                                                     : exceed_steps(step);
  // Only the log needs the end: a launch is short, and reading the clock takes a part of it.
  if (clock_is_measured && sink != nullptr)
    rank.clock_ns = std::max(rank.clock_ns, backend.now_ns());
  if (sink != nullptr && logging == Interpreter::Logging::kOn) log_step(step, start_ns, path);
  if (ok) {
    rank.pc = step.next;
    execute_glue(rank);
  }
  ++state.position;
  advance(r, rank);
  const Progress found = state.failed ? Progress::kQuiescent : poll();
  upcoming = next_rank();
  if (upcoming == kNoRank) upcoming = advance_when_idle(found);
  return step.task;
}

bool Engine::exceed_steps(const Step& step) {
  return fault(step, "max_steps",
               fmt::format("rank {} is still at {} after {} steps", step.rank, name_of(step.index),
                           options.max_steps));
}

void Engine::log_step(const Step& step, int64_t start_ns, LoopPathId path) {
  IssuedRecord record;
  record.decision = state.position;
  record.branch = branch;
  record.rank = step.rank;
  record.code = step.index;
  record.loop_path = path;
  record.stream = step.code.stream;
  record.task = step.task;
  record.host_start_ns = start_ns;
  record.host_end_ns = step.rank_state.clock_ns;
  record.waited_ns = step.waited_ns;
  record.waits_for = step.waits_for;
  record.bytes = step.bytes;
  record.sequence = step.sequence;
  record.comm = step.comm;
  record.peer = step.peer;
  if (step.arrival != nullptr) {
    const Arrival& a = *step.arrival;
    sink->called({step.rank, a.root, a.total_elems, a.row_elems, a.fingerprint});
  }
  sink->issued(record);
}

Rank Engine::advance_until_runnable() {
  const Progress found = poll();
  const Rank next = next_rank();
  return next != kNoRank ? next : advance_when_idle(found);
}

// No rank can run: polls while that yields completions, and waits while the timeout allows.
Rank Engine::advance_when_idle(Progress found) {
  Rank next = kNoRank;
  while (found != Progress::kQuiescent && next == kNoRank && state.in_flight > 0 && !state.failed) {
    if (found == Progress::kPending) {
      found = backend.wait({hosts, take_moved_hosts()}, *this, options.timeout_ns);
      if (found == Progress::kPending) {
        give_up_waiting();
        break;
      }
    } else {
      found = poll();
    }
    next = next_rank();
  }
  if (next == kNoRank && !state.concluded && !state.failed) conclude();
  return next;
}

void Engine::freeze(Rank r, bool frozen) {
  RankState& rank = state.ranks[static_cast<size_t>(r)];
  rank.frozen = frozen;
  if (sink != nullptr && logging == Interpreter::Logging::kOn) {
    DecisionRecord record;
    record.kind = frozen ? DecisionRecord::Kind::kFreeze : DecisionRecord::Kind::kThaw;
    record.number = state.position;
    record.branch = branch;
    record.rank = r;
    sink->decision(record);
  }
  ++state.position;
  refresh(r);
  if (!state.failed) advance_until_runnable();
}

}  // namespace hostir::interp
