#include "interp/session/snapshots/rank_snapshot.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/loop_paths.h"
#include "interp/core/state.h"
#include "interp/session/snapshots/snapshot_builder.h"

namespace hostir::interp {
namespace {

// Loops and calls around an instruction, outermost first; iterations come from the loop path.
std::vector<FrameSnapshot> frames_of(const Interpreter& interpreter, CodeIndex at,
                                     LoopPathId path) {
  const Code& code = interpreter.code();
  std::vector<FrameSnapshot> out;
  for (CodeIndex i = code.instructions[at].parent; i != kNoCode; i = code.instructions[i].parent) {
    const CodeInstruction& c = code.instructions[i];
    FrameSnapshot frame;
    frame.address = code.address(i);
    if (c.index_register != kNoRegister) {
      frame.kind = FrameSnapshot::Kind::kLoop;
      frame.variable = code.register_name(c.index_register);
      if (path != 0 && interpreter.loop_paths().entry(path).loop == i) {
        frame.iteration = interpreter.loop_paths().entry(path).iteration;
        path = interpreter.loop_paths().entry(path).parent;
      }
    } else if (const auto* callee = code.source(i).attributes.get<Symbol>("callee")) {
      frame.kind = FrameSnapshot::Kind::kCall;
      frame.variable = callee->name;
    } else {
      continue;  // `where` and `group` are not frames
    }
    if (frame.variable.starts_with('%')) frame.variable.erase(0, 1);
    out.push_back(std::move(frame));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string task_text(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  std::string out(record(c.kind).mnemonic);
  const Instruction& source = code.source(index);
  if (const auto* kernel = source.attributes.get<Symbol>("kernel")) out += " @" + kernel->name;
  for (size_t i = 0; i < source.operands.size() && i < c.operands.size(); ++i) {
    const Access access = source.operands[i].access;
    if (access != Access::kUse && c.operands[i] != kNoRegister) {
      out += " " + code.register_name(c.operands[i]);
    }
  }
  return out;
}

std::vector<StreamSnapshot> streams_of(const Interpreter& interpreter, Rank rank) {
  const Code& code = interpreter.code();
  std::vector<StreamSnapshot> out;
  for (StreamIndex s = 0; s < code.streams.size(); ++s) {
    StreamSnapshot stream;
    stream.index = s;
    stream.name = code.streams[s];
    for (const TaskRecord* t : interpreter.queue(rank, s)) {
      TaskSnapshot task;
      task.id = make_task_id(rank, t->number);
      task.code = t->code;
      task.address = code.address(t->code);
      task.text = task_text(code, t->code);
      task.issued_ns = t->issued_ns;
      task.state =
          stream.tasks.empty() ? TaskSnapshot::State::kRunning : TaskSnapshot::State::kQueued;
      stream.tasks.push_back(std::move(task));
    }
    out.push_back(std::move(stream));
  }
  return out;
}

std::vector<EventSnapshot> events_of(const Interpreter& interpreter, Rank rank) {
  const Code& code = interpreter.code();
  const std::vector<Register>& registers =
      interpreter.state().ranks[static_cast<size_t>(rank)].registers;
  std::vector<EventSnapshot> out;
  for (size_t i = 0; i < registers.size() && i < code.registers.size(); ++i) {
    const RegisterInfo& info = code.registers[i];
    if (!info.value.valid() || registers[i].value < 0) continue;
    const Value& value = code.functions[info.function]->value(info.value);
    if (!std::holds_alternative<EventType>(value.type)) continue;
    EventSnapshot event;
    event.name = value.name;
    event.task = static_cast<TaskId>(registers[i].value);
    const TaskRecord* task = interpreter.task(event.task);
    event.done = !task || task->finished();
    out.push_back(std::move(event));
  }
  return out;
}

std::optional<WaitSnapshot> wait_of(const Interpreter& interpreter, const RankView& view) {
  if (view.status != RankStatus::kBlocked) return std::nullopt;
  WaitSnapshot out;
  out.task = view.waits_for;
  const Code& code = interpreter.code();
  const TaskRecord* task = interpreter.task(view.waits_for);
  out.sentence = fmt::format("waits at {}", code.address(view.code));
  if (task) {
    out.sentence +=
        fmt::format(" for {} of {}", task_text(code, task->code), code.address(task->code));
  }
  for (const MeetingView& meeting : interpreter.ledger()) {
    const bool mine = std::any_of(
        meeting.members.begin(), meeting.members.end(),
        [&](const auto& m) { return m.second->arrived && m.second->task == view.waits_for; });
    if (!mine || meeting.complete) continue;
    for (const auto& [rank, arrival] : meeting.members) {
      if (!arrival->arrived) out.ranks.push_back(rank);
    }
  }
  return out;
}

}  // namespace

std::string_view name(RankStatus status) {
  switch (status) {
    case RankStatus::kRunnable:
      return "runnable";
    case RankStatus::kBlocked:
      return "blocked";
    case RankStatus::kDone:
      return "done";
    case RankStatus::kNotStarted:
      return "not started";
    case RankStatus::kRemote:
      return "remote";
    case RankStatus::kDead:
      return "dead";
    case RankStatus::kUnknown:
      return "unknown";
  }
  return "";
}

RankSnapshot make_rank_snapshot(const Interpreter& interpreter, Rank rank) {
  const Code& code = interpreter.code();
  const RankView view = interpreter.rank(rank);
  RankSnapshot out;
  out.rank = rank;
  out.status = view.status;
  out.frozen = view.frozen;
  out.code = view.code;
  const CodeInstruction& at = code.instructions[view.code];
  out.function = code.functions[at.function]->name;
  out.address = code.address(view.code);
  out.op = record(at.kind).mnemonic;
  out.span = code.source(view.code).span;
  out.frames = frames_of(interpreter, view.code, view.loop_path);
  out.steps = view.steps;
  out.host_clock_ns = view.clock_ns;
  out.waits = wait_of(interpreter, view);
  out.streams = streams_of(interpreter, rank);
  out.events = events_of(interpreter, rank);
  return out;
}

}  // namespace hostir::interp
