// Writes events in order of issue: calls of members, work in flight, and the waits that precede it.

#include <algorithm>

#include "traces/database/static_rows.h"
#include "traces/writer/log_builder_parts.h"

namespace hostir::traces {

using model::Member;
using model::Rank;

void LogBuilder::collect_events() {
  std::map<model::TaskId, std::vector<const Member*>> members_of;
  const auto add = [&](const Member& m, model::CommunicatorId c, uint64_t sequence,
                       std::optional<Rank> peer) {
    if (!m.arrived() || run_.find(c) == nullptr) return;
    BuiltEvent event;
    event.member = &m;
    event.communicator = c;
    event.sequence = sequence;
    event.peer = peer;
    event.rank = m.rank;
    event.stream = m.stream;
    event.instruction = instruction_for(m, c);
    event.loop_path = loop_path(m.loops);
    event.order = order_of(m, sequence);
    if (m.task != model::kNoTask) members_of[m.task].push_back(&m);
    events_.push_back(event);
  };
  for (const model::Meeting& meeting : run_.meetings) {
    for (const Member& m : meeting.members)
      add(m, meeting.communicator, meeting.sequence, std::nullopt);
  }
  for (const model::SendRecv& pair : run_.pairs) {
    add(pair.send, pair.communicator, pair.ordinal, pair.target);
    add(pair.recv, pair.communicator, pair.ordinal, pair.source);
  }
  for (BuiltEvent& event : events_) {
    const model::Task* task = run_.task(event.member->task);
    const bool alone = event.member->task != model::kNoTask &&
                       members_of[event.member->task].size() == 1 &&
                       (task == nullptr || task->instruction == event.member->instruction);
    if (alone) event.task = task;
    if (alone && task != nullptr) written_.insert(task->id);
    if (!alone && event.member->task != model::kNoTask) grouped_.insert(event.member);
  }
  for (const model::Task& task : run_.tasks) add_task(task);
  std::stable_sort(events_.begin(), events_.end(),
                   [](const BuiltEvent& a, const BuiltEvent& b) { return a.order < b.order; });
}

std::tuple<int64_t, uint64_t, int> LogBuilder::order_of(const Member& m, uint64_t sequence) const {
  return {begin_of(m.times).value_or(0),
          m.task != model::kNoTask ? model::task_number(m.task) : m.order.value_or(sequence), 1};
}

void LogBuilder::add_task(const model::Task& task) {
  // A finished task is worth an event only if its times are known.
  if (task.state == model::TaskState::kFinished && !task.times.finished_ns) return;
  const int64_t time = begin_of(task.times).value_or(0);
  for (const model::TaskId awaited : task.waits_for) {
    BuiltEvent wait;
    wait.awaited = awaited;
    wait.rank = task.rank();
    wait.stream = task.stream;
    wait.instruction = wait_instruction(task.stream);
    wait.order = {time, model::task_number(task.id), 0};
    events_.push_back(wait);
  }
  if (written_.contains(task.id)) return;
  BuiltEvent event;
  event.task = &task;
  event.rank = task.rank();
  event.stream = task.stream;
  if (task.instruction.valid()) event.instruction = task.instruction.index;
  event.loop_path = loop_path(task.loops);
  event.order = {time, model::task_number(task.id), 2};
  if (event.instruction >= 0) events_.push_back(event);
}

Expected<void> LogBuilder::write_loop_paths() {
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          database_->prepare("INSERT INTO loop_path VALUES (?, ?, ?, ?)"));
  for (const auto& [text, path] : loop_paths_) {
    s.bind_int(1, path.id);
    s.bind_int(2, path.parent);
    s.bind_int(3, path.instruction);
    s.bind_int(4, path.iteration);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> LogBuilder::write_events() {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement row,
      database_->prepare(
          "INSERT INTO event_row (id, branch, decision, rank, instruction, "
          "host_start_ns, host_end_ns, bytes, stream, task, queued_ns, start_ns, finish_ns, "
          "waited_for, loop_path) VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement collective,
      database_->prepare(
          "INSERT INTO collective_row (event, branch, rank, instruction, communicator, "
          "sequence, peer, bytes, arrival_ns, start_ns, finish_ns) VALUES (?, 0, ?, ?, ?, ?, ?, "
          "?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement call,
      database_->prepare("INSERT INTO call (event, instruction, rank, root, total_elems, "
                         "row_elems, shape, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  for (size_t id = 0; id < events_.size(); ++id) {
    const BuiltEvent& e = events_[id];
    const model::Times times = e.task ? e.task->times : e.member ? e.member->times : model::Times();
    const auto issued = common(times.issued_ns, times.issued_clock);
    row.bind_int(1, static_cast<int64_t>(id));
    row.bind_int(2, static_cast<int64_t>(id));
    row.bind_int(3, e.rank);
    row.bind_int(4, e.instruction);
    bind(row, 5, issued);
    bind(row, 6, issued);
    row.bind_int(7, e.member ? bytes_of(e.member->call).value_or(0) : 0);
    const model::TaskId task = task_of(e);
    bind(row, 8,
         task != model::kNoTask && e.stream.valid() ? std::optional<int64_t>(e.stream.index)
                                                    : std::nullopt);
    bind(row, 9,
         task != model::kNoTask ? std::optional(static_cast<int64_t>(model::task_number(task)))
                                : std::nullopt);
    bind(row, 10, common(times.ready_ns, times.execution_clock));
    bind(row, 11, common(times.started_ns, times.execution_clock));
    bind(row, 12, common(times.finished_ns, times.execution_clock));
    bind(row, 13,
         e.awaited != model::kNoTask
             ? std::optional(static_cast<int64_t>(model::task_number(e.awaited)))
             : std::nullopt);
    row.bind_int(14, e.loop_path);
    HOSTIR_TRY(row.run());
    if (e.member == nullptr) continue;
    HOSTIR_TRY(write_collective(collective, static_cast<int64_t>(id), e));
    HOSTIR_TRY(write_call(call, static_cast<int64_t>(id), e));
  }
  return {};
}

model::TaskId LogBuilder::task_of(const BuiltEvent& e) const {
  if (e.awaited != model::kNoTask) return model::kNoTask;
  if (e.member == nullptr) return e.task->id;
  return grouped_.contains(e.member) ? model::kNoTask : e.member->task;
}

std::optional<int64_t> LogBuilder::bytes_of(const model::Call& call) {
  const auto elems = call.total_elems ? call.total_elems : call.local_elems;
  if (!elems || !call.dtype) return std::nullopt;
  return *elems * size_bytes(*call.dtype);
}

Expected<void> LogBuilder::write_collective(Statement& s, int64_t id, const BuiltEvent& e) {
  std::optional<int64_t> peer;
  const auto& members = run_.communicators[e.communicator.index].members;
  if (e.peer && members) {
    const auto at = std::find(members->begin(), members->end(), *e.peer);
    if (at != members->end()) peer = at - members->begin();
  }
  if (e.peer && !peer) return {};  // the other side has no position: add_gaps() reports it
  const model::Times& times = e.member->times;
  s.bind_int(1, id);
  s.bind_int(2, e.rank);
  s.bind_int(3, e.instruction);
  s.bind_int(4, declaration_[e.communicator.index]);
  s.bind_int(5, static_cast<int64_t>(e.sequence));
  bind(s, 6, peer);
  bind(s, 7, bytes_of(e.member->call));
  // Some sources record only when the host made the call.
  const bool on_stream = e.member->task != model::kNoTask;
  bind(s, 8,
       on_stream ? common(times.ready_ns, times.execution_clock)
                 : common(times.issued_ns, times.issued_clock));
  bind(s, 9, common(times.started_ns, times.execution_clock));
  bind(s, 10, common(times.finished_ns, times.execution_clock));
  // A source may record the state but no time.
  if (e.member->state == model::MemberState::kCompleted && !times.finished_ns)
    HOSTIR_TRY(write_untimed(id, "completed"));
  if (e.member->state == model::MemberState::kStarted && !times.started_ns)
    HOSTIR_TRY(write_untimed(id, "started"));
  return s.run();
}

Expected<void> LogBuilder::write_untimed(int64_t id, std::string_view state) {
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          database_->prepare("INSERT INTO untimed_state VALUES (?, ?)"));
  s.bind_int(1, id);
  s.bind_text(2, state);
  return s.run();
}

Expected<void> LogBuilder::write_call(Statement& s, int64_t id, const BuiltEvent& e) {
  const model::Call& call = e.member->call;
  const std::string shape = call.shape ? extents_text(*call.shape) : std::string();
  s.bind_int(1, id);
  s.bind_int(2, e.instruction);
  s.bind_int(3, e.rank);
  bind(s, 4, call.root ? std::optional<int64_t>(*call.root) : std::nullopt);
  bind(s, 5, call.total_elems);
  bind(s, 6, call.row_elems);
  call.shape ? s.bind_text(7, shape) : s.bind_null(7);
  bind(s, 8,
       call.fingerprint ? std::optional(static_cast<int64_t>(*call.fingerprint)) : std::nullopt);
  return s.run();
}

}  // namespace hostir::traces
