#include "traces/recorded/log_snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "interp/model/verdict.h"
#include "interp/session/snapshots/snapshot_builder.h"
#include "traces/recorded/job_findings.h"
#include "traces/recorded/log_model.h"
#include "traces/recorded/log_program.h"

namespace hostir::traces {

using interp::Rank;
using interp::Snapshot;

namespace {

/// The end of the last recorded work.
Expected<int64_t> end_ns(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable found,
      log.query("SELECT MAX(n) FROM (SELECT MAX(end_ns) n FROM event_block UNION ALL "
                "SELECT MAX(COALESCE(finish_ns, host_end_ns)) FROM (SELECT finish_ns, host_end_ns "
                "FROM event_row ORDER BY id DESC LIMIT 10000))"));
  const auto* end = found.rows.empty() ? nullptr : std::get_if<int64_t>(&found.rows[0][0]);
  return end ? *end : 0;
}

interp::AllocationSnapshot allocation_of(const interp::LogTensor& tensor, size_t rank) {
  interp::AllocationSnapshot a;
  a.name = tensor.name;
  a.placement.dtype = tensor.dtype;
  a.placement.global = tensor.extents;
  a.placement.box = tensor.boxes[rank];
  TensorType type;
  type.dtype = tensor.dtype;
  for (const int64_t extent : tensor.extents) type.shape.emplace_back(extent);
  a.type = std::move(type);
  a.bytes = a.placement.local_bytes();
  a.written = true;
  return a;
}

interp::RankStatus status_of(model::RankState state) {
  switch (state) {
    case model::RankState::kUnknown:
      return interp::RankStatus::kUnknown;
    case model::RankState::kNotStarted:
      return interp::RankStatus::kNotStarted;
    case model::RankState::kRunning:
    case model::RankState::kFrozen:
      return interp::RankStatus::kRunnable;
    case model::RankState::kBlocked:
      return interp::RankStatus::kBlocked;
    case model::RankState::kDone:
      return interp::RankStatus::kDone;
    case model::RankState::kDead:
      return interp::RankStatus::kDead;
    case model::RankState::kRemote:
      return interp::RankStatus::kRemote;
  }
  return interp::RankStatus::kUnknown;
}

std::string task_text(const LogReader& log, model::InstructionId id) {
  if (!id.valid() || id.index >= log.instructions().size()) return {};
  const interp::LogInstruction& i = log.instructions()[id.index];
  return i.kernel.empty() ? i.mnemonic : i.mnemonic + " @" + i.kernel;
}

/// The rank's unfinished work, by stream.
std::vector<interp::StreamSnapshot> streams_of(const LogReader& log, const model::Run& run,
                                               Rank rank) {
  std::vector<interp::StreamSnapshot> out;
  for (size_t s = 0; s < run.streams.size(); ++s) {
    out.emplace_back();
    out.back().index = static_cast<interp::StreamIndex>(s);
    out.back().name = run.streams[s].name;
  }
  for (const model::Task& t : run.tasks) {
    if (t.rank() != rank || t.state == model::TaskState::kFinished || !t.stream.valid() ||
        t.stream.index >= out.size())
      continue;
    interp::TaskSnapshot task;
    task.id = t.id;
    if (t.instruction.valid()) task.code = t.instruction.index;
    const model::Instruction* instruction = run.find(t.instruction);
    if (instruction != nullptr) task.address = model::place_text(*instruction);
    task.text = task_text(log, t.instruction);
    task.issued_ns = t.times.issued_ns.value_or(0);
    auto& tasks = out[t.stream.index].tasks;
    task.state = tasks.empty() ? interp::TaskSnapshot::State::kRunning
                               : interp::TaskSnapshot::State::kQueued;
    tasks.push_back(std::move(task));
  }
  return out;
}

interp::RankSnapshot rank_of(const LogReader& log, const model::Run& run, Rank r) {
  const model::RankFacts& facts = run.ranks[static_cast<size_t>(r)];
  interp::RankSnapshot rank;
  rank.rank = r;
  rank.status = status_of(facts.state);
  rank.frozen = facts.state == model::RankState::kFrozen;
  rank.function = log.run().entry;
  if (const model::Instruction* at = run.find(facts.at)) {
    rank.code = facts.at.index;
    rank.address = model::place_text(*at);
    rank.op = at->mnemonic;
  }
  rank.host_clock_ns = facts.last_sign_ns.value_or(0);
  const model::Task* task = run.task(facts.waits_for);
  if (rank.status == interp::RankStatus::kBlocked && task != nullptr) {
    interp::WaitSnapshot wait;
    wait.task = task->id;
    const model::Instruction* on = run.find(task->instruction);
    wait.sentence = fmt::format("waits at {}", rank.address);
    if (on != nullptr) {
      wait.sentence +=
          fmt::format(" for {} of {}", task_text(log, task->instruction), model::place_text(*on));
    }
    rank.waits = std::move(wait);
  }
  rank.streams = streams_of(log, run, r);
  return rank;
}

void add_ranks(const LogReader& log, const model::Run& run, Snapshot& shot) {
  for (Rank r = 0; r < log.run().rank_count; ++r) {
    shot.ranks.push_back(std::make_shared<interp::RankSnapshot>(rank_of(log, run, r)));
    auto memory = std::make_shared<interp::MemorySnapshot>();
    memory->rank = r;
    const auto index = static_cast<size_t>(r);
    // If a buffer has several layouts, use the last one, as at the end of the run.
    std::map<std::string, const interp::LogTensor*> last;
    for (const interp::LogTensor& tensor : log.tensors()) {
      if (index < tensor.boxes.size() && tensor.boxes[index].lo.size() == tensor.extents.size())
        last[tensor.name] = &tensor;
    }
    for (const auto& [name, tensor] : last)
      memory->allocations.push_back(allocation_of(*tensor, index));
    shot.memory.push_back(std::move(memory));
  }
}

Expected<std::vector<interp::FaultSnapshot>> faults_of(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> logged, log.faults());
  std::vector<interp::FaultSnapshot> out;
  for (const interp::FaultRecord& f : logged) {
    interp::FaultSnapshot fault;
    fault.kind = f.kind;
    fault.sentence = f.sentence;
    fault.instructions = f.instructions;
    fault.notes = f.notes;
    for (const Rank rank : f.ranks) {
      if (rank >= 0 && rank < log.run().rank_count) fault.ranks.push_back(rank);
    }
    out.push_back(std::move(fault));
  }
  return out;
}

/// Adds the logged faults or, if there are none, the verdict derived from the log.
void add_verdict(std::vector<interp::FaultSnapshot>& faults, const model::Verdict& verdict,
                 const model::Run& run) {
  if (!faults.empty() || !verdict.is_fault()) return;
  interp::FaultSnapshot& fault = faults.emplace_back();
  fault.kind = verdict.kind;
  fault.sentence = verdict.sentence;
  for (const model::VerdictNote& note : verdict.notes) {
    fault.notes.push_back(note.text);
    const model::Instruction* at = run.find(note.instruction);
    for (const Rank rank : note.ranks) {
      fault.ranks.push_back(rank);
      fault.instructions.push_back(at != nullptr ? model::place_text(*at) : std::string());
    }
  }
}

interp::StopReason stop_of(const LogReader& log, const std::vector<interp::FaultSnapshot>& faults,
                           const model::Run& run, const model::Verdict& verdict, bool read_only) {
  interp::StopReason stop;
  stop.kind = interp::StopKind::kFinished;
  stop.sentence = read_only ? "A read-only recording." : "The end of a recorded run.";
  if (log.ending() == interp::LogEnding::kRunning) {
    stop.kind = interp::StopKind::kInterrupted;
    stop.sentence = "The run goes on: this is its end so far.";
  }
  if (!faults.empty()) {
    stop.kind = faults.back().kind == "deadlock" || faults.back().kind == "timeout"
                    ? interp::StopKind::kDeadlock
                    : interp::StopKind::kFault;
    stop.sentence += " It ended: " + faults.back().sentence;
    if (!stop.sentence.ends_with('.')) stop.sentence += '.';
  } else if (log.run().ending == interp::LogEnding::kCut && run.motion != model::Motion::kOver) {
    stop.kind = interp::StopKind::kInterrupted;
    stop.sentence += " Its log was cut: what came after is not known.";
  }
  // A fault repeats these as notes.
  if (const auto found = findings_of(log.run().properties); found && faults.empty()) {
    if (!found->verdict.empty()) stop.sentence += fmt::format(" The verdict: {}.", found->verdict);
    if (!found->trial.empty()) stop.sentence += fmt::format(" The trial: {}.", found->trial);
    if (!found->profile.empty()) stop.sentence += fmt::format(" Profiles: {}.", found->profile);
  }
  // For a complete run that ended well, the only gaps are calls that the log has.
  if (!read_only && faults.empty() && log.run().complete) return stop;
  constexpr size_t kMostGaps = 4;
  for (size_t i = 0; i < std::min(verdict.not_known.size(), kMostGaps); ++i)
    stop.sentence += fmt::format("{}{}", i == 0 ? " Not known: " : "; ", verdict.not_known[i]);
  if (!verdict.not_known.empty()) stop.sentence += ".";
  return stop;
}

}  // namespace

Expected<Snapshot> end_of(const LogReader& log, std::string why) {
  HOSTIR_ASSIGN_OR_RETURN(model::Run known, run_of(log));
  const auto run = std::make_shared<const model::Run>(std::move(known));
  const model::Verdict verdict = diagnose::diagnose(*run);
  Snapshot shot;
  shot.no_stepping = std::move(why);
  shot.program = program_of(log, *run);
  add_ranks(log, *run, shot);
  HOSTIR_ASSIGN_OR_RETURN(shot.now_ns, end_ns(log));
  shot.ledger = interp::make_ledger_snapshot(run);
  HOSTIR_ASSIGN_OR_RETURN(std::vector<interp::FaultSnapshot> faults, faults_of(log));
  add_verdict(faults, verdict, *run);
  interp::WaitsSnapshot waits = interp::make_waits_snapshot(*run);
  if (!faults.empty()) {
    waits.sentence = faults.back().sentence;
    // The fault of other tools' files names only the ranks at fault.
    if (findings_of(log.run().properties) && !faults.back().ranks.empty())
      waits.culprits = faults.back().ranks;
    accuse_differing(*run, faults, waits);
  }
  shot.waits = std::make_shared<const interp::WaitsSnapshot>(std::move(waits));
  shot.stop = stop_of(log, faults, *run, verdict, !shot.no_stepping.empty());
  shot.faults = std::make_shared<const std::vector<interp::FaultSnapshot>>(std::move(faults));
  shot.breakpoints = std::make_shared<const std::vector<interp::BreakpointSnapshot>>();
  shot.run = run;
  return shot;
}

}  // namespace hostir::traces
