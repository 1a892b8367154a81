// Collectives, sends and receives of a log, and the work in flight at its end.

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "hostir/ops/record.h"
#include "traces/database/static_rows.h"
#include "traces/reader/event_scanner.h"
#include "traces/recorded/model_reader.h"

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogEvent;
using interp::Rank;
using model::ClockId;
using model::CommunicatorId;
using model::InstructionId;
using model::Member;

Expected<void> ModelReader::add_calls() {
  return for_rows_of(
      "call",
      "SELECT event, instruction, rank, root, total_elems, row_elems, shape, fingerprint "
      "FROM call ORDER BY event",
      [&](const Statement& row) -> Expected<void> {
        CallFact fact;
        fact.event = row.integer(0);
        if (!row.is_null(3)) fact.root = static_cast<int32_t>(row.integer(3));
        if (!row.is_null(4)) fact.total_elems = row.integer(4);
        if (!row.is_null(5)) fact.row_elems = row.integer(5);
        if (!row.is_null(6)) {
          HOSTIR_ASSIGN_OR_RETURN(fact.shape, parse_extents(row.text_view(6)));
        }
        if (!row.is_null(7)) fact.fingerprint = static_cast<uint64_t>(row.integer(7));
        calls_[{row.integer(1), row.integer(2)}].push_back(std::move(fact));
        return {};
      });
}

const ModelReader::CallFact* ModelReader::call_fact(int64_t instruction, int64_t rank,
                                                    int64_t event) const {
  const auto facts = calls_.find({instruction, rank});
  if (facts == calls_.end()) return nullptr;
  const auto behind =
      std::upper_bound(facts->second.begin(), facts->second.end(), event,
                       [](int64_t id, const CallFact& fact) { return id < fact.event; });
  return behind == facts->second.begin() ? nullptr : &*std::prev(behind);
}

std::optional<Extents> ModelReader::local_shape(const Statement& row, int column,
                                                int64_t rank) const {
  if (row.is_null(column)) return std::nullopt;
  const auto id = static_cast<size_t>(row.integer(column));
  if (id >= log_.tensors().size()) return std::nullopt;
  const std::vector<Box>& boxes = log_.tensors()[id].boxes;
  if (static_cast<size_t>(rank) >= boxes.size()) return std::nullopt;
  return boxes[static_cast<size_t>(rank)].extents();
}

model::Call ModelReader::call_of(const Statement& row) const {
  model::Call call;
  call.kind = find_op(row.text_view(kKind));
  if (!call.kind) call.name = row.text(kKind);
  for (const Reduction r :
       {Reduction::kSum, Reduction::kAvg, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
    if (row.text_view(kReduction) == name(r)) call.reduction = r;
  }
  call.dtype = parse_dtype(row.text_view(kDType));
  call.shape = local_shape(row, kSend, row.integer(kRank));
  if (!call.shape) call.shape = local_shape(row, kRecv, row.integer(kRank));
  const CallFact* fact =
      call_fact(row.integer(kInstruction), row.integer(kRank), row.integer(kEvent));
  if (fact == nullptr) return call;
  call.root = fact->root;
  call.total_elems = fact->total_elems;
  call.row_elems = fact->row_elems;
  if (fact->shape) call.shape = fact->shape;
  call.fingerprint = fact->fingerprint;
  return call;
}

Expected<void> ModelReader::add_collectives() {
  HOSTIR_ASSIGN_OR_RETURN(const auto count,
                          database_->query_int("SELECT COUNT(*) FROM collective_row"));
  int64_t first = 0;
  if (count.value_or(0) > options_.max_collectives) {
    HOSTIR_ASSIGN_OR_RETURN(
        const auto from,
        database_->query_int(
            fmt::format("SELECT event FROM collective_row ORDER BY event DESC LIMIT 1 OFFSET {}",
                        options_.max_collectives)));
    first = from.value_or(0);
  }
  HOSTIR_TRY(for_rows(
      fmt::format(
          "SELECT c.event, c.rank, c.instruction, c.communicator, c.sequence, c.peer, "
          "c.arrival_ns, c.start_ns, c.finish_ns, s.kind, s.reduction, s.dtype, s.send_tensor, "
          "s.recv_tensor, s.group_index FROM collective_row c LEFT JOIN collective_site s ON "
          "s.instruction = c.instruction AND s.rank = c.rank WHERE c.event >= {} ORDER BY "
          "c.event",
          first),
      [&](const Statement& row) { return add_collective(row); }));
  if (first == 0) return {};
  for (const auto& [key, sequence] : first_sequence_)
    builder_.lost_before(key.first, key.second, sequence);
  return {};
}

Expected<void> ModelReader::add_untimed() {
  return for_rows_of("untimed_state", "SELECT event, state FROM untimed_state",
                     [&](const Statement& row) -> Expected<void> {
                       untimed_[row.integer(0)] = row.text_view(1) == "completed"
                                                      ? model::MemberState::kCompleted
                                                      : model::MemberState::kStarted;
                       return {};
                     });
}

Expected<void> ModelReader::add_collective(const Statement& row) {
  if (!is_rank(row.integer(kRank)) || !shows(row.integer(kEvent))) return {};
  const auto rank = static_cast<Rank>(row.integer(kRank));
  const CommunicatorId comm = communicator_id(row.integer(kComm), row.integer(kGroup));
  if (!comm.valid()) return {};
  const auto sequence = static_cast<uint64_t>(row.integer(kSequence));
  const auto pending = pending_.find(row.integer(kEvent));
  const LogEvent* task = nullptr;
  if (row.is_null(kFinish)) {
    task = pending != pending_.end() ? &pending->second : group_task(rank, row.integer(kEvent));
    // A member of a group that was not issued has not arrived.
    if (task == nullptr && is_in_group(row.integer(kInstruction))) return {};
  }
  Member* member = nullptr;
  if (row.is_null(kPeer)) {
    member = &builder_.arrive(comm, sequence, rank);
    first_sequence_.try_emplace({rank, comm}, sequence);
  } else {
    const Rank peer = member_at(comm, row.integer(kPeer));
    if (peer == model::kNoRank) return {};
    member = row.text_view(kKind) == "send" ? &builder_.send(comm, rank, peer, sequence)
                                            : &builder_.recv(comm, peer, rank, sequence);
  }
  fill(*member, row, task);
  return {};
}

void ModelReader::fill(Member& member, const Statement& row, const LogEvent* task) {
  member.call = call_of(row);
  member.instruction = instruction_id(row.integer(kInstruction));
  member.order = static_cast<uint64_t>(row.integer(kEvent));
  member.state = !row.is_null(kFinish)  ? model::MemberState::kCompleted
                 : !row.is_null(kStart) ? model::MemberState::kStarted
                                        : model::MemberState::kScheduled;
  const auto untimed = untimed_.find(row.integer(kEvent));
  if (untimed != untimed_.end()) member.state = std::max(member.state, untimed->second);
  if (!row.is_null(kArrival)) member.times.ready_ns = row.integer(kArrival);
  if (!row.is_null(kStart)) member.times.started_ns = row.integer(kStart);
  if (!row.is_null(kFinish)) member.times.finished_ns = row.integer(kFinish);
  member.times.issued_clock = member.times.execution_clock = ClockId(0U);
  if (task == nullptr) return;
  member.task = task->task;
  if (task->stream >= 0) member.stream = model::StreamId(static_cast<uint32_t>(task->stream));
  member.loops = loops_of(task->loop_path);
  if (task->host_start_ns != kUnknownNs) member.times.issued_ns = task->host_start_ns;
}

Rank ModelReader::member_at(CommunicatorId comm, int64_t position) {
  const auto& members = builder_.run().communicators[comm.index].members;
  const bool known = members && position >= 0 && static_cast<size_t>(position) < members->size();
  return known ? (*members)[static_cast<size_t>(position)] : model::kNoRank;
}

Expected<void> ModelReader::add_tasks() {
  // Events in flight at the end were written late, so they are plain rows.
  HOSTIR_ASSIGN_OR_RETURN(
      const auto first,
      database_->query_int(
          "SELECT MIN(id) FROM event_row WHERE finish_ns IS NULL AND task IS NOT NULL"));
  if (!first) return {};
  std::vector<int64_t> ids;
  HOSTIR_TRY(
      for_rows("SELECT id FROM event_row WHERE finish_ns IS NULL AND task IS NOT NULL ORDER BY id",
               [&](const Statement& row) -> Expected<void> {
                 if (shows(row.integer(0))) ids.push_back(row.integer(0));
                 return {};
               }));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogEvent> in_flight,
                          find_events(*database_, limits_, ids));
  for (const LogEvent& event : in_flight) {
    if (event.task == model::kNoTask || event.stream < 0) continue;
    pending_.emplace_hint(pending_.end(), event.id, event);
  }
  std::map<std::pair<Rank, int32_t>, std::vector<LogEvent>> waits;
  interp::EventFilter filter;
  filter.first_id = *first;
  filter.mnemonics = {"wait"};
  filter.limit = 1'000'000;
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogEvent> events, log_.events(filter));
  for (const LogEvent& e : events) {
    const int32_t stream = log_.instructions()[e.instruction].stream;
    if (stream >= 0 && e.waited_for != model::kNoTask && shows(e.id))
      waits[{e.rank, stream}].push_back(e);
  }
  std::map<std::pair<Rank, int32_t>, size_t> passed;  // waits before the previous task
  for (const auto& [id, event] : pending_) {
    model::Task& task = builder_.task(event.task);
    task.stream = model::StreamId(static_cast<uint32_t>(event.stream));
    task.instruction = instruction_id(event.instruction);
    task.loops = loops_of(event.loop_path);
    const auto op = log_.instructions()[event.instruction].op_class;
    task.communication = op == OpClass::kCommunication;
    if (event.host_start_ns != kUnknownNs) task.times.issued_ns = event.host_start_ns;
    task.times.issued_clock = task.times.execution_clock = ClockId(0U);
    const std::pair key(event.rank, event.stream);
    const std::vector<LogEvent>& all = waits[key];
    for (size_t& at = passed[key]; at < all.size() && all[at].id < id; ++at)
      task.waits_for.push_back(all[at].waited_for);
  }
  return {};
}

bool ModelReader::is_in_group(int64_t instruction) const {
  // Members of a `group { }` have no task of their own, and therefore no pending one.
  return instruction >= 0 && instruction < static_cast<int64_t>(log_.instructions().size()) &&
         log_.instructions()[static_cast<size_t>(instruction)].mnemonic != "group" &&
         groups_logged();
}

bool ModelReader::groups_logged() const {
  return std::any_of(log_.instructions().begin(), log_.instructions().end(),
                     [](const interp::LogInstruction& i) { return i.mnemonic == "group"; });
}

const LogEvent* ModelReader::group_task(Rank rank, int64_t member_event) const {
  for (auto at = pending_.upper_bound(member_event); at != pending_.end(); ++at) {
    if (at->second.rank != rank) continue;
    const bool group = log_.instructions()[at->second.instruction].mnemonic == "group";
    return group ? &at->second : nullptr;
  }
  return nullptr;
}

}  // namespace hostir::traces
