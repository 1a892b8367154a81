// Converts what the engine knows to a model::Run, the form used by verdicts, snapshots and logs.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hostir/ops/record.h"
#include "interp/core/engine/engine.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

namespace {

bool reduces(OpKind kind) {
  for (const AttributeSpec& attribute : record(kind).attributes) {
    if (attribute.type == AttributeSpec::Type::kReduction) return true;
  }
  return false;
}

std::optional<int64_t> stated(int64_t elems) {
  return elems < 0 ? std::nullopt : std::optional(elems);
}

model::RankState state_of(const RankState& rank) {
  switch (rank.status) {
    case RankStatus::kDone:
      return model::RankState::kDone;
    case RankStatus::kNotStarted:
      return model::RankState::kNotStarted;
    case RankStatus::kBlocked:
      return model::RankState::kBlocked;
    case RankStatus::kDead:
      return model::RankState::kDead;
    case RankStatus::kRemote:
      return model::RankState::kRemote;
    case RankStatus::kUnknown:
      return model::RankState::kUnknown;
    case RankStatus::kRunnable:
      return rank.frozen ? model::RankState::kFrozen : model::RankState::kRunning;
  }
  return model::RankState::kUnknown;
}

class RunFiller {
 public:
  explicit RunFiller(const RunContext& context) : context_(context), code_(*context.code) {}

  model::Run fill() {
    run_.producer.name = "hostir " + context_.backend.capabilities().name;
    run_.entry = "@" + code_.entry;
    run_.motion = motion();
    if (run_.motion == model::Motion::kStuck) run_.motion_source = "the engine";
    if (context_.state.gave_up) run_.gave_up_after_ns = context_.options.timeout_ns;
    const bool is_virtual = context_.backend.capabilities().clock == ClockDomain::kVirtual;
    run_.clocks.push_back(
        {is_virtual ? model::ClockKind::kVirtual : model::ClockKind::kHost, {}, {}});
    for (const std::string& name : code_.streams) run_.streams.push_back({name, {}});
    add_instructions();
    add_communicators();
    for (Rank r = 0; r < context_.rank_count(); ++r) add_rank(r);
    add_meetings();
    add_pairs();
    return std::move(run_);
  }

 private:
  model::Motion motion() const {
    bool over = true;
    for (const RankState& rank : context_.state.ranks) {
      over = over && is_over(rank.status) && rank.outstanding == 0;
    }
    if (over) return model::Motion::kOver;
    return context_.state.concluded ? model::Motion::kStuck : model::Motion::kMoving;
  }

  void add_instructions() {
    run_.instructions.resize(code_.instructions.size());
    for (CodeIndex i = 0; i < code_.instructions.size(); ++i) {
      run_.instructions[i].address = code_.address(i);
      run_.instructions[i].mnemonic = record(code_.instructions[i].kind).mnemonic;
    }
  }

  void add_communicators() {
    for (const Communicator& c : code_.communicators) {
      for (uint32_t g = 0; g < c.groups.size(); ++g) {
        run_.communicators.push_back({c.name, c.to_string(), g, c.groups[g], {}, c.content_key});
      }
    }
  }

  void add_rank(Rank r) {
    const RankState& rank = context_.state.ranks[static_cast<size_t>(r)];
    model::RankFacts& facts = run_.ranks.emplace_back();
    facts.state = state_of(rank);
    facts.record = model::RecordState::kWhole;
    if (rank.pc < code_.instructions.size()) facts.at = model::InstructionId(rank.pc);
    if (rank.loop_path != 0) facts.loops = context_.paths.to_string(code_, rank.loop_path);
    if (rank.status == RankStatus::kBlocked) facts.waits_for = rank.waits_for;
    facts.steps = rank.steps;
    facts.last_sign_ns = rank.clock_ns;
    facts.last_sign_clock = model::ClockId(0U);
    run_.memory.push_back({r, rank.live_bytes, rank.peak_bytes});
    if (rank.outstanding > 0) add_tasks(r, rank);
  }

  void add_tasks(Rank r, const RankState& rank) {
    const size_t first = run_.tasks.size();
    for (const TaskRecord& t : rank.tasks.all()) {
      if (t.finished()) continue;
      model::Task& task = run_.tasks.emplace_back();
      task.id = make_task_id(r, t.number);
      task.stream = model::StreamId(t.stream);
      task.instruction = model::InstructionId(t.code);
      if (t.loop_path != 0) task.loops = context_.paths.to_string(code_, t.loop_path);
      task.state = model::TaskState::kUnknown;
      task.communication = t.link != TaskRecord::Link::kNone;
      task.times.issued_ns = t.issued_ns;
      task.times.issued_clock = task.times.execution_clock = model::ClockId(0U);
    }
    for (const TaskDependency& d : rank.dependencies) {
      const TaskRecord* on = rank.tasks.find(task_number(d.on));
      if (on == nullptr || on->finished()) continue;
      for (size_t i = first; i < run_.tasks.size(); ++i) {
        if (task_number(run_.tasks[i].id) == d.task) run_.tasks[i].waits_for.push_back(d.on);
      }
    }
  }

  void add_meetings() {
    for (uint32_t g = 0; g < context_.state.ledger.groups.size(); ++g) {
      const GroupLedger& group = context_.state.ledger.groups[g];
      const std::vector<Rank>& members = *run_.communicators[g].members;
      for (uint64_t s = group.first(); s < group.end(); ++s) {
        model::Meeting& meeting = run_.meetings.emplace_back();
        meeting.communicator = model::CommunicatorId(g);
        meeting.sequence = s;
        for (uint32_t p = 0; p < group.members(); ++p)
          meeting.members.push_back(member_of(members[p], group.arrival(s, p)));
      }
    }
    add_ranges();
  }

  // The ledger drops finished meetings and pairs after a while.
  void add_ranges() {
    for (const model::Meeting& meeting : run_.meetings) {
      const GroupLedger& group = context_.state.ledger.groups[meeting.communicator.index];
      const auto first = group.first() == 0 ? std::nullopt : std::optional(group.first());
      for (const model::Member& member : meeting.members) {
        if (member.arrived())
          run_.ranges.push_back({member.rank, meeting.communicator, first, meeting.sequence});
      }
    }
    const auto key = [](const model::CallRange& range) {
      return std::pair(range.rank, range.communicator);
    };
    std::ranges::stable_sort(run_.ranges, {}, key);
    // The last call of each rank on each communicator.
    std::vector<model::CallRange> last;
    for (const model::CallRange& range : run_.ranges) {
      if (!last.empty() && key(last.back()) == key(range)) last.pop_back();
      last.push_back(range);
    }
    run_.ranges = std::move(last);
  }

  void add_pairs() {
    for (const Pair& p : context_.state.ledger.pairs) {
      model::SendRecv& pair = run_.pairs.emplace_back();
      const auto group = code_.communicators[p.comm].group_of_rank[static_cast<size_t>(p.source)];
      pair.communicator = model::CommunicatorId(context_.state.ledger.first_group[p.comm] +
                                                static_cast<uint32_t>(std::max(group, 0)));
      pair.source = p.source;
      pair.target = p.target;
      pair.ordinal = p.ordinal;
      pair.send = member_of(p.source, p.send);
      pair.recv = member_of(p.target, p.recv);
    }
    std::map<std::tuple<CommIndex, Rank, Rank>, uint64_t> kept;
    for (const Pair& p : context_.state.ledger.pairs) ++kept[{p.comm, p.source, p.target}];
    for (const PairCounter& counter : context_.state.ledger.counters) {
      if (kept[{counter.comm, counter.source, counter.target}] >=
          std::max(counter.sent, counter.received))
        continue;
      for (const Rank rank : {counter.source, counter.target})
        run_.gaps.push_back({model::Gap::Kind::kBeginsLate,
                             rank,
                             {},
                             {},
                             fmt::format("rank {}: its first sends and recvs are not kept", rank)});
    }
  }

  model::Member member_of(Rank rank, const Arrival& a) const {
    model::Member member;
    member.rank = rank;
    member.state = model::MemberState::kNotArrived;
    if (!a.arrived) return member;
    member.state = a.finished ? model::MemberState::kCompleted : model::MemberState::kScheduled;
    member.call = call_of(a);
    const Instruction& source = code_.source(a.code);
    if (source.attributes.has("counts"))
      member.call.receives_given = source.attributes.has("receives");
    member.instruction = model::InstructionId(a.code);
    if (a.loop_path != 0 && !a.finished)
      member.loops = context_.paths.to_string(code_, a.loop_path);
    member.task = a.task;
    member.stream = model::StreamId(a.stream);
    member.order = task_number(a.task);  // the host numbers its tasks as it issues them
    member.times.issued_ns = a.arrived_ns;
    if (a.finished) {
      member.times.started_ns = a.started_ns;
      member.times.finished_ns = a.finished_ns;
    }
    member.times.issued_clock = member.times.execution_clock = model::ClockId(0U);
    return member;
  }

  const RunContext& context_;
  const Code& code_;
  model::Run run_;
};

}  // namespace

model::Call call_of(const Arrival& a) {
  model::Call call;
  call.kind = a.kind;
  if (reduces(a.kind)) call.reduction = a.reduction;
  call.dtype = a.dtype;
  if (a.root >= 0) call.root = a.root;
  call.total_elems = stated(a.total_elems);
  call.row_elems = stated(a.row_elems);
  call.local_elems = stated(a.local_elems);
  call.shape = a.placement != nullptr ? a.placement->local() : Extents();
  call.sends = a.sends;
  call.receives = a.receives;
  call.fingerprint = a.fingerprint;
  return call;
}

void log_rank_states(const RunContext& run) {
  for (Rank r = 0; r < run.rank_count(); ++r) {
    const RankState& rank = run.state.ranks[static_cast<size_t>(r)];
    run.sink->rank_state({r, state_of(rank), rank.pc, rank.loop_path, rank.waits_for, rank.clock_ns,
                          run.state.position, run.branch});
  }
}

model::Run run_model_of(const RunContext& run) { return RunFiller(run).fill(); }

model::Run Interpreter::run_model() const { return run_model_of(engine_->run); }

}  // namespace hostir::interp
