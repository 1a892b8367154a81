// Writes and applies a report: ranks, tasks in flight, arrivals. Tasks are renumbered on arrival.
#include <algorithm>

#include "interp/core/engine/meetings.h"
#include "interp/core/engine/message.h"
#include "interp/core/engine/remote.h"

namespace hostir::interp {

namespace {

constexpr uint32_t kVersion = 1;

// An arrival without its pointers; the extents replace the placement.
void put_arrival(MessageWriter& out, const Arrival& a) {
  out.put(a.fingerprint);
  out.put(a.total_elems);
  out.put(a.row_elems);
  out.put(a.local_elems);
  out.put(a.code);
  out.put(a.task);
  out.put(a.stream);
  out.put(a.stream_sequence);
  out.put(a.arrived_ns);
  out.put(a.root);
  out.put(a.kind);
  out.put(a.dtype);
  out.put(a.reduction);
  out.put(a.finished);
  out.list(a.sends);
  out.list(a.receives);
  out.list(a.placement != nullptr ? a.placement->local() : Extents{});
}

Arrival get_arrival(RunContext& run, MessageReader& in) {
  Arrival a;
  a.fingerprint = in.get<uint64_t>();
  a.total_elems = in.get<int64_t>();
  a.row_elems = in.get<int64_t>();
  a.local_elems = in.get<int64_t>();
  a.code = in.get<CodeIndex>();
  a.task = in.get<TaskId>();
  a.stream = in.get<StreamIndex>();
  a.stream_sequence = in.get<uint32_t>();
  a.arrived_ns = in.get<int64_t>();
  a.root = in.get<int32_t>();
  a.kind = in.get<OpKind>();
  a.dtype = in.get<DType>();
  a.reduction = in.get<Reduction>();
  a.finished = in.get<bool>();
  a.sends = in.list<int64_t>();
  a.receives = in.list<int64_t>();
  a.arrived = true;
  Placement& placement = run.dynamic_placements.emplace_back();
  placement.dtype = a.dtype;
  placement.global = in.list<int64_t>();
  placement.box = Box::whole(placement.global);
  a.placement = &placement;
  if (a.code >= run.code->instructions.size()) a.code = 0;
  if (a.stream >= run.code->streams.size()) a.stream = 0;
  return a;
}

void put_rank(MessageWriter& out, const RunContext& run, Rank r) {
  const RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  out.put(r);
  out.put(rank.status);
  out.put(rank.pc);
  out.put(rank.clock_ns);
  out.put(rank.steps);
  out.put(rank.waits_for);
  std::vector<const TaskRecord*> open;
  for (const TaskRecord& t : rank.tasks.all()) {
    if (!t.finished()) open.push_back(&t);
  }
  out.put(static_cast<uint64_t>(open.size()));
  for (const TaskRecord* t : open) {
    out.put(t->number);
    out.put(t->code);
    out.put(t->stream);
    out.put(t->sequence);
    out.put(t->issued_ns);
    out.put(t->comm);
    out.put(t->link);
    out.put(t->comm_sequence);
  }
  std::vector<TaskDependency> waits;
  for (const TaskDependency& d : rank.dependencies) {
    const TaskRecord* task = rank.tasks.find(d.task);
    if (task != nullptr && !task->finished()) waits.push_back(d);
  }
  out.list(waits);
}

// From the sender's task ids to those of the local table.
using Renamed = std::map<TaskId, TaskId>;

bool get_rank(RunContext& run, MessageReader& in, Renamed& renamed) {
  const auto r = in.get<Rank>();
  if (!in.ok() || r < 0 || r >= run.code->rank_count) return false;
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  if (rank.status != RankStatus::kRemote) return false;
  rank.status = in.get<RankStatus>();
  rank.pc = std::min<CodeIndex>(in.get<CodeIndex>(),
                                static_cast<CodeIndex>(run.code->instructions.size() - 1));
  rank.clock_ns = in.get<int64_t>();
  rank.steps = in.get<uint64_t>();
  const auto waits_for = in.get<TaskId>();
  const std::vector<uint32_t> clock(TaskTable::clock_stride(run.code->streams.size()), 0);
  for (auto n = in.get<uint64_t>(); n > 0 && in.ok(); --n) {
    TaskRecord& t = rank.tasks.add(clock.data());
    renamed[make_task_id(r, in.get<uint64_t>())] = make_task_id(r, t.number);
    t.code = in.get<CodeIndex>();
    t.stream = in.get<StreamIndex>();
    t.sequence = in.get<uint32_t>();
    t.issued_ns = in.get<int64_t>();
    t.comm = in.get<CommIndex>();
    t.link = in.get<TaskRecord::Link>();
    t.comm_sequence = in.get<uint64_t>();
    if (t.code >= run.code->instructions.size() || t.stream >= run.code->streams.size()) {
      return false;
    }
  }
  const auto now = [&](TaskId old) {
    const auto found = renamed.find(old);
    return found == renamed.end() ? kNoTask : found->second;
  };
  rank.waits_for = now(waits_for);
  for (const TaskDependency& d : in.list<TaskDependency>()) {
    const TaskId task = now(make_task_id(r, d.task));
    if (task != kNoTask && now(d.on) != kNoTask) {
      rank.dependencies.push_back({task_number(task), now(d.on)});
    }
  }
  return in.ok();
}

void enter_arrival(RunContext& run, CommIndex comm, int32_t group_index, uint64_t sequence,
                   uint32_t position, Arrival arrival) {
  GroupLedger& group = run.state.ledger.group(comm, group_index);
  // Meetings finished and dropped here need no update.
  if (position >= group.members() || sequence < group.first() ||
      sequence > group.end() + GroupLedger::kWindow) {
    return;
  }
  group.reach(sequence);
  Arrival& slot = group.arrival(sequence, position);
  if (slot.arrived) return;
  slot = std::move(arrival);
  MeetingHead& head = group.head(sequence);
  if (++head.arrived == 1) head.fingerprint = slot.fingerprint;
  if (slot.finished) ++head.finished;
  for (uint32_t p = 0; p < group.members(); ++p) {
    const Arrival& other = group.arrival(sequence, p);
    if (other.arrived && !arrivals_agree(slot, other)) head.mismatch = true;
  }
}

}  // namespace

std::string report_of(const RunContext& run) {
  MessageWriter out;
  out.put(kVersion);
  std::vector<Rank> ranks;
  for (Rank r = 0; r < run.code->rank_count; ++r) {
    if (run.state.ranks[static_cast<size_t>(r)].status != RankStatus::kRemote) {
      ranks.push_back(r);
    }
  }
  out.put(static_cast<uint64_t>(ranks.size()));
  for (const Rank r : ranks) put_rank(out, run, r);
  const Ledger& ledger = run.state.ledger;
  MessageWriter arrivals;
  uint64_t count = 0;
  for (CommIndex c = 0; c < run.code->communicators.size(); ++c) {
    const auto& groups = run.code->communicators[c].groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      const GroupLedger& group = ledger.groups[ledger.first_group[c] + g];
      for (uint64_t s = group.first(); s < group.end(); ++s) {
        for (uint32_t p = 0; p < group.members(); ++p) {
          if (!group.arrival(s, p).arrived) continue;
          ++count;
          arrivals.put(c);
          arrivals.put(static_cast<int32_t>(g));
          arrivals.put(s);
          arrivals.put(p);
          put_arrival(arrivals, group.arrival(s, p));
        }
      }
    }
  }
  const std::string body = arrivals.take();
  out.put(count);
  out.text(body.data(), body.size());
  MessageWriter pairs;
  count = 0;
  for (const Pair& pair : ledger.pairs) {
    for (const bool sends : {true, false}) {
      const Arrival& a = sends ? pair.send : pair.recv;
      if (!a.arrived) continue;
      ++count;
      pairs.put(pair.comm);
      pairs.put(pair.source);
      pairs.put(pair.target);
      pairs.put(pair.ordinal);
      pairs.put(sends);
      put_arrival(pairs, a);
    }
  }
  const std::string sides = pairs.take();
  out.put(count);
  out.text(sides.data(), sides.size());
  return out.take();
}

bool enter_report(RunContext& run, const std::string& report) {
  MessageReader in(report);
  if (in.get<uint32_t>() != kVersion) return false;
  Renamed renamed;
  for (auto n = in.get<uint64_t>(); n > 0; --n) {
    if (!get_rank(run, in, renamed)) return false;
  }
  const auto rename = [&](Arrival& a) {
    const auto found = renamed.find(a.task);
    a.task = found == renamed.end() ? kNoTask : found->second;
  };
  auto count = in.get<uint64_t>();
  const std::string body = in.text();
  MessageReader arrivals(body);
  for (; count > 0 && arrivals.ok(); --count) {
    const auto comm = arrivals.get<CommIndex>();
    const auto group = arrivals.get<int32_t>();
    const auto sequence = arrivals.get<uint64_t>();
    const auto position = arrivals.get<uint32_t>();
    Arrival a = get_arrival(run, arrivals);
    const bool known = comm < run.code->communicators.size() && group >= 0 &&
                       static_cast<size_t>(group) < run.code->communicators[comm].groups.size();
    if (!arrivals.ok() || !known) return false;
    rename(a);
    enter_arrival(run, comm, group, sequence, position, std::move(a));
  }
  count = in.get<uint64_t>();
  const std::string sides = in.text();
  MessageReader pairs(sides);
  for (; count > 0 && pairs.ok(); --count) {
    const auto comm = pairs.get<CommIndex>();
    const auto source = pairs.get<Rank>();
    const auto target = pairs.get<Rank>();
    const auto ordinal = pairs.get<uint64_t>();
    const auto sends = pairs.get<bool>();
    Arrival a = get_arrival(run, pairs);
    if (!pairs.ok() || comm >= run.code->communicators.size()) return false;
    rename(a);
    Pair& pair = run.state.ledger.pair(comm, source, target, ordinal);
    Arrival& side = sends ? pair.send : pair.recv;
    if (!side.arrived) side = std::move(a);
  }
  return in.ok();
}

}  // namespace hostir::interp
