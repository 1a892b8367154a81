#include "interp/core/views.h"

#include "interp/core/engine/engine.h"

namespace hostir::interp {

const TaskRecord* head_of(const RunContext& run, Rank rank, StreamIndex stream) {
  for (const TaskRecord& t : run.state.ranks[static_cast<size_t>(rank)].tasks.all()) {
    if (t.stream == stream && !t.finished()) return &t;
  }
  return nullptr;
}

bool waits_for_events(const RunContext& run, Rank r, const TaskRecord& task) {
  const RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  return std::any_of(rank.dependencies.begin(), rank.dependencies.end(),
                     [&](const TaskDependency& d) {
                       if (d.task != task.number) return false;
                       const TaskRecord* on = rank.tasks.find(task_number(d.on));
                       return on != nullptr && !on->finished();
                     });
}

bool is_ready(const RunContext& run, Rank rank, const Arrival& arrival) {
  if (!arrival.arrived || arrival.finished) return false;
  const TaskRecord* first = head_of(run, rank, arrival.stream);
  return first != nullptr && make_task_id(rank, first->number) == arrival.task &&
         !waits_for_events(run, rank, *first);
}

namespace {

MeetingView view_of(const Engine& engine, CommIndex comm, uint32_t index, uint64_t sequence) {
  const GroupLedger& group =
      engine.run.state.ledger.groups[engine.run.state.ledger.first_group[comm] + index];
  const MeetingHead& head = group.head(sequence);
  MeetingView v;
  v.comm = comm;
  v.sequence = sequence;
  v.complete = head.arrived == group.members();
  v.finished = head.finished == group.members();
  v.mismatch = head.mismatch;
  for (uint32_t p = 0; p < group.members(); ++p) {
    v.members.emplace_back(engine.run.code->communicators[comm].groups[index][p],
                           &group.arrival(sequence, p));
  }
  return v;
}

}  // namespace

RankView Interpreter::rank(Rank rank) const {
  const RankState& r = engine_->run.state.ranks[static_cast<size_t>(rank)];
  RankView v;
  v.status = r.status;
  v.frozen = r.frozen;
  v.code = r.pc;
  v.loop_path = r.loop_path;
  v.clock_ns = r.clock_ns;
  v.steps = r.steps;
  v.waits_for = r.waits_for;
  v.outstanding = r.outstanding;
  return v;
}

std::vector<const TaskRecord*> Interpreter::queue(Rank rank, StreamIndex stream) const {
  std::vector<const TaskRecord*> out;
  for (const TaskRecord& t : engine_->run.state.ranks[static_cast<size_t>(rank)].tasks.all()) {
    if (t.stream == stream && !t.finished()) out.push_back(&t);
  }
  return out;
}

const TaskRecord* Interpreter::task(TaskId id) const {
  if (id == kNoTask || task_rank(id) >= engine_->run.code->rank_count) return nullptr;
  return engine_->run.state.ranks[static_cast<size_t>(task_rank(id))].tasks.find(task_number(id));
}

bool Interpreter::is_queued(Rank rank, const Arrival& arrival) const {
  return arrival.arrived && !arrival.finished && !is_ready(engine_->run, rank, arrival);
}

std::vector<AllocationView> Interpreter::allocations(Rank rank) const {
  std::vector<AllocationView> out;
  for (const Allocation& a : engine_->run.state.ranks[static_cast<size_t>(rank)].allocations) {
    if (!a.live) continue;
    AllocationView& v = out.emplace_back();
    v.id = a.id;
    v.rank = rank;
    v.bytes = a.bytes;
    v.placement = a.placement;
    v.layout = a.layout;
    v.reg = a.reg;
    v.version = a.version;
    v.parameter = a.parameter;
    v.writable = a.writable;
    v.initialised = a.initialised;
    v.allocated_by = a.allocated_by;
    v.written_by = a.written_by;
    v.written_task = a.written_task;
  }
  return out;
}

std::optional<BufferRef> Interpreter::buffer(Rank rank, uint32_t reg) const {
  const RankState& r = engine_->run.state.ranks[static_cast<size_t>(rank)];
  if (reg >= r.registers.size() || !engine_->run.code->registers[reg].buffer) return std::nullopt;
  return engine_->operands.buffer_of(r, r.registers[reg]);
}

std::optional<int64_t> Interpreter::integer(Rank rank, uint32_t reg) const {
  const RankState& r = engine_->run.state.ranks[static_cast<size_t>(rank)];
  if (reg >= r.registers.size()) return std::nullopt;
  const RegisterInfo& info = engine_->run.code->registers[reg];
  const Type& type = engine_->run.code->functions[info.function]->value(info.value).type;
  if (!std::holds_alternative<IndexType>(type)) return std::nullopt;
  return r.registers[reg].value;
}

std::vector<MeetingView> Interpreter::ledger() const {
  std::vector<MeetingView> out;
  for (CommIndex c = 0; c < engine_->run.code->communicators.size(); ++c) {
    const size_t groups = engine_->run.code->communicators[c].groups.size();
    for (uint32_t g = 0; g < groups; ++g) {
      const GroupLedger& group =
          engine_->run.state.ledger.groups[engine_->run.state.ledger.first_group[c] + g];
      for (uint64_t s = group.first(); s < group.end(); ++s) {
        out.push_back(view_of(*engine_, c, g, s));
      }
    }
  }
  for (const Pair& pair : engine_->run.state.ledger.pairs) {
    MeetingView& v = out.emplace_back();
    v.comm = pair.comm;
    v.sequence = pair.ordinal;
    v.point_to_point = true;
    v.complete = pair.send.arrived && pair.recv.arrived;
    v.finished = pair.send.finished && pair.recv.finished;
    v.mismatch = pair.is_mismatch();
    v.members = {{pair.source, &pair.send}, {pair.target, &pair.recv}};
  }
  return out;
}

int64_t Interpreter::live_bytes(Rank rank) const {
  return engine_->run.state.ranks[static_cast<size_t>(rank)].live_bytes;
}

int64_t Interpreter::peak_bytes(Rank rank) const {
  return engine_->run.state.ranks[static_cast<size_t>(rank)].peak_bytes;
}

}  // namespace hostir::interp
