// A small synthetic run for log tests: a program of a few instructions on some ranks, and a driver
// that feeds a sink like an interpreter.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "interp/core/trace_sink.h"
#include "traces/writer/run_description.h"

namespace hostir::traces::testing {

/// host @f: launch, all_reduce, free, wait, for; on `ranks` ranks.
inline std::shared_ptr<const interp::Code> synthetic_code(interp::Rank ranks) {
  auto program = std::make_shared<Program>();
  Mesh mesh;
  mesh.name = "m";
  mesh.axes = {{"tp", ranks}};
  program->add_mesh(mesh);
  Function host;
  host.kind = FunctionKind::kHost;
  host.name = "f";
  host.mesh = "m";
  host.body = host.add_region();
  const auto add = [&](OpKind kind) {
    Instruction instruction;
    instruction.kind = kind;
    return host.add_instruction(host.body, instruction);
  };
  const std::vector<OpKind> kinds = {OpKind::launch, OpKind::all_reduce, OpKind::free, OpKind::wait,
                                     OpKind::for_};
  std::vector<InstrId> ids;
  for (const OpKind kind : kinds) ids.push_back(add(kind));
  program->add_function(host);

  auto code = std::make_shared<interp::Code>();
  code->program = program;
  code->entry = "f";
  code->functions = {program->find_function("f")};
  code->world = program->find_mesh("m");
  code->streams = {"compute", "comm"};
  code->rank_count = ranks;
  interp::Communicator comm;
  comm.name = "c";
  comm.axes = {{"tp"}};
  comm.groups = {{}};
  for (interp::Rank r = 0; r < ranks; ++r) {
    comm.groups[0].push_back(r);
    comm.group_of_rank.push_back(0);
    comm.position_of_rank.push_back(r);
  }
  comm.content_key = 4711;
  code->communicators = {comm};
  for (size_t i = 0; i < kinds.size(); ++i) {
    interp::CodeInstruction c;
    c.kind = kinds[i];
    c.address = static_cast<uint32_t>(i + 1);
    c.instr = ids[i];
    if (kinds[i] == OpKind::launch) c.stream = 0;
    if (kinds[i] == OpKind::all_reduce) {
      c.stream = 1;
      c.comm = 0;
    }
    code->instructions.push_back(c);
  }
  return code;
}

inline Tensor small_input() {
  Tensor x = Tensor::zeros(DType::kF32, {3, 5});
  for (int64_t i = 0; i < 15; ++i) x.set_double(i, 0.5 * static_cast<double>(i));
  return x;
}

inline RunDescription synthetic_description(interp::Rank ranks) {
  RunDescription run;
  run.program = describe_program(*synthetic_code(ranks));
  run.command_line = "hostir run f.hir";
  run.backend = "sim";
  run.virtual_time = true;
  run.program_text = "mesh @m = <tp=2>\nhost @f on @m () {\n  launch\n}\n";
  run.program.instructions[0].line = 3;
  run.phases = {{"lower", "text of the phase"}};
  run.explanations = {{"%y", "matmul", "because"}};
  run.inputs = {{"x", "", InputDescription::Kind::kData, small_input()},
                {"w", "normal(7)", InputDescription::Kind::kGenerator, small_input()}};
  run.properties = {{"max_steps", "12"}};
  return run;
}

/// Iterations of launch, all_reduce, free (which complete out of issue order) and wait.
class SyntheticRun {
 public:
  SyntheticRun(interp::TraceSink& sink, interp::Rank ranks)
      : sink_(sink), ranks_(ranks), tasks_(static_cast<size_t>(ranks)) {}

  int64_t events() const { return events_; }

  void iterate(int64_t count, bool log_values = false) {
    for (int64_t i = 0; i < count; ++i) {
      sink_.loop_path(++path_, 0, 4, i);
      std::vector<interp::TaskId> launched, reduced, freed;
      for (interp::Rank rank = 0; rank < ranks_; ++rank) {
        launched.push_back(issue(rank, 0, 0, 64));
        reduced.push_back(issue(rank, 1, 1, 1024));
        freed.push_back(issue(rank, 2, 0, 64));
      }
      ++sequence_;
      for (interp::Rank rank = 0; rank < ranks_; ++rank) {
        const auto r = static_cast<size_t>(rank);
        finish(rank, freed[r], 30, 40, 4096 - 64);
        finish(rank, launched[r], 0, 20, -1);
        if (log_values) log_value(rank, launched[r], i);
        finish(rank, reduced[r], 25, 45, -1);
        interp::IssuedRecord wait = record(rank, 3);
        wait.waited_ns = 7;
        wait.waits_for = reduced[r];
        put(wait);
      }
      now_ += 50;
    }
  }

  /// An all_reduce that never finishes.
  void hang(interp::Rank rank) { issue(rank, 1, 1, 1024); }

  interp::TaskId issue(interp::Rank rank, interp::CodeIndex code, interp::StreamIndex stream,
                       int64_t bytes) {
    interp::IssuedRecord r = record(rank, code);
    r.stream = stream;
    r.task = interp::make_task_id(rank, tasks_[static_cast<size_t>(rank)]++);
    r.bytes = bytes;
    if (code == 1) {
      r.comm = 0;
      r.sequence = sequence_;
    }
    put(r);
    return r.task;
  }

 private:
  interp::IssuedRecord record(interp::Rank rank, interp::CodeIndex code) {
    interp::IssuedRecord r;
    r.decision = static_cast<uint64_t>(events_);
    r.rank = rank;
    r.code = code;
    r.loop_path = path_;
    r.host_start_ns = now_ + code;
    r.host_end_ns = now_ + code + 1;
    return r;
  }
  void put(const interp::IssuedRecord& r) {
    ++events_;
    sink_.issued(r);
  }
  void finish(interp::Rank rank, interp::TaskId task, int64_t start, int64_t end, int64_t live) {
    interp::FinishedRecord r;
    r.rank = rank;
    r.task = task;
    r.queued_ns = now_ + start - 1;
    r.started_ns = now_ + start;
    r.finished_ns = now_ + end;
    r.live_bytes = live;
    sink_.finished(r);
  }
  void log_value(interp::Rank rank, interp::TaskId task, int64_t i) {
    const Tensor x = small_input();
    interp::ValueSummary v;
    v.task = task;
    v.rank = rank;
    v.allocation = interp::AllocationId(uint32_t{3});
    v.digest = static_cast<uint64_t>(1000 + i);
    v.has_stats = true;
    v.min = 0;
    v.max = 7;
    v.mean = 3.5;
    v.data = x.data;
    sink_.value(v);
  }

  interp::TraceSink& sink_;
  interp::Rank ranks_;
  std::vector<uint64_t> tasks_;
  int64_t events_ = 0;
  int64_t now_ = 0;
  uint64_t sequence_ = 0;
  interp::LoopPathId path_ = 0;
};

}  // namespace hostir::traces::testing
