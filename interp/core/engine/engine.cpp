#include "interp/core/engine/engine.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::interp {

Engine::Engine(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
               const InterpreterOptions& run_options)
    : run(std::move(program), device, log, run_options) {}

void Engine::start() {
  const bool contents = run.backend.capabilities().reads_values;
  const Function& entry = *run.code->functions[0];
  for (Rank r = 0; r < run.rank_count(); ++r) {
    RankState& rank = run.state.ranks[static_cast<size_t>(r)];
    for (size_t p = 0; p < run.code->parameters.size(); ++p) {
      const uint32_t reg = run.code->parameters[p];
      const LayoutIndex layout = run.code->registers[reg].layout;
      const LayoutTable& table = run.code->layouts[layout];
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
    run.state.live_bytes += rank.live_bytes;
    scheduler.execute_glue(rank);
  }
  scheduler.refresh_all();
}

StepResult Engine::step(Rank r) {
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  StepResult result;
  result.rank = r;
  result.code = rank.pc;
  if (!scheduler.can_run(r) || run.state.failed) {
    using Outcome = StepResult::Outcome;
    result.outcome = run.state.failed                       ? Outcome::kFault
                     : rank.status == RankStatus::kBlocked  ? Outcome::kBlocked
                     : rank.status == RankStatus::kRunnable ? Outcome::kFrozen
                                                            : Outcome::kDone;
    return result;
  }
  const size_t known = run.state.faults.size();
  result.task = decide(r);
  if (run.state.faults.size() != known) result.outcome = StepResult::Outcome::kFault;
  return result;
}

TaskId Engine::decide(Rank r) {
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  Step step{rank, run.code->instructions[rank.pc], r, rank.pc, rank.pc + 1};
  const int64_t key = rank.clock_ns;
  const LoopPathId path = rank.loop_path;
  rank.clock_ns =
      run.clock_is_measured ? std::max(key, run.backend.now_ns()) : key + run.options.issue_ns;
  const int64_t start_ns = run.clock_is_measured ? rank.clock_ns : key;
  ++rank.steps;
  const bool ok = run.state.position < run.options.max_steps
                      ? scheduler.dispatch(rank.pc).execute(*this, step)
                      : exceed_steps(step);
  // Only the log needs the end time, and reading the clock is a noticeable part of a short launch.
  if (run.clock_is_measured && run.sink != nullptr)
    rank.clock_ns = std::max(rank.clock_ns, run.backend.now_ns());
  if (run.is_logging()) log_step(step, start_ns, path);
  if (ok) {
    rank.pc = step.next;
    scheduler.execute_glue(rank);
  }
  ++run.state.position;
  scheduler.advance(r, rank);
  const Progress found = run.state.failed ? Progress::kQuiescent : poll();
  upcoming = scheduler.next_rank();
  if (upcoming == kNoRank) upcoming = advance_when_idle(found);
  return step.task;
}

bool Engine::exceed_steps(const Step& step) {
  return faults.fault(step, "max_steps",
                      fmt::format("rank {} is still at {} after {} steps", step.rank,
                                  faults.name_of(step.index), run.options.max_steps));
}

void Engine::log_step(const Step& step, int64_t start_ns, LoopPathId path) {
  IssuedRecord record;
  record.decision = run.state.position;
  record.branch = run.branch;
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
    run.sink->called({step.rank, a.root, a.total_elems, a.row_elems, a.fingerprint});
  }
  run.sink->issued(record);
}

Rank Engine::advance_until_runnable() {
  const Progress found = poll();
  const Rank next = scheduler.next_rank();
  return next != kNoRank ? next : advance_when_idle(found);
}

// No rank can run: polls while that yields completions, and waits while the timeout allows.
Rank Engine::advance_when_idle(Progress found) {
  Rank next = kNoRank;
  while (found != Progress::kQuiescent && next == kNoRank && run.state.in_flight > 0 &&
         !run.state.failed) {
    if (found == Progress::kPending) {
      found = wait();
      if (found == Progress::kPending) {
        give_up_waiting();
        break;
      }
    } else {
      found = poll();
    }
    next = scheduler.next_rank();
  }
  if (next == kNoRank && !run.state.concluded && !run.state.failed) conclude();
  return next;
}

// A job that hangs may be killed before the timeout, so after a second without a completion the log
// gets the ranks' positions.
Progress Engine::wait() {
  const int64_t timeout_ns = run.options.timeout_ns;
  const int64_t stall_ns = std::min<int64_t>(1'000'000'000, timeout_ns / 2);
  const auto until = [&](int64_t limit_ns) {
    return run.backend.wait({scheduler.hosts(), scheduler.take_moved_hosts()}, *this, limit_ns);
  };
  const Progress found = until(stall_ns);
  if (found != Progress::kPending) return found;
  if (run.is_logging()) log_rank_states(run);
  return until(timeout_ns - stall_ns);
}

void Engine::freeze(Rank r, bool frozen) {
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  rank.frozen = frozen;
  if (run.is_logging()) {
    DecisionRecord record;
    record.kind = frozen ? DecisionRecord::Kind::kFreeze : DecisionRecord::Kind::kThaw;
    record.number = run.state.position;
    record.branch = run.branch;
    record.rank = r;
    run.sink->decision(record);
  }
  ++run.state.position;
  scheduler.refresh(r);
  if (!run.state.failed) advance_until_runnable();
}

}  // namespace hostir::interp
