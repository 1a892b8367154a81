#include <algorithm>

#include "hostir/support/lists.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_group(Engine& engine, Step& step);

namespace {

// The members' streams, the first member's stream first.
std::vector<StreamIndex> streams_of(const Engine& engine, std::span<const ResolvedCall> members) {
  std::vector<StreamIndex> streams;
  for (const ResolvedCall& member : members) {
    const StreamIndex stream = engine.run.code->instructions[member.item.code].stream;
    add_once(streams, stream);
  }
  return streams;
}

// As in NCCL, the group starts when all of its streams have reached it, and each stream continues
// after it. So its task is on the first stream and waits for the last task of the other streams.
void wait_for_streams(Engine& engine, Rank self, RankState& rank,
                      std::span<const StreamIndex> streams) {
  uint32_t* row = engine.run.clock_row(rank, streams.front());
  std::vector<TaskId>& waits = rank.streams[streams.front()].waits;
  for (const StreamIndex other : streams.subspan(1)) {
    const uint32_t* known = engine.run.clock_row(rank, other);
    for (size_t s = 0; s < engine.run.code->streams.size(); ++s)
      row[s] = std::max(row[s], known[s]);
    StreamState& queue = rank.streams[other];
    waits.insert(waits.end(), queue.waits.begin(), queue.waits.end());
    queue.waits.clear();
    const std::span<const TaskRecord> tasks = rank.tasks.all();
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [&](const TaskRecord& t) {
      return t.stream == other && !t.finished();
    });
    if (last != tasks.rend()) waits.push_back(make_task_id(self, last->number));
  }
}

void go_on_behind(Engine& engine, RankState& rank, std::span<const StreamIndex> streams,
                  TaskId task) {
  const uint32_t* row = engine.run.clock_row(rank, streams.front());
  for (const StreamIndex other : streams.subspan(1)) {
    uint32_t* known = engine.run.clock_row(rank, other);
    for (size_t s = 0; s < engine.run.code->streams.size(); ++s)
      known[s] = std::max(row[s], known[s]);
    rank.streams[other].waits.push_back(task);
  }
}

}  // namespace

// Issues the members, resolved when each was stepped, as one task with one event.
bool execute_group(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (rank.open_group.empty()) return true;
  std::vector<ResolvedCall> members = std::move(rank.open_group);
  rank.open_group.clear();
  engine.races.check_group_overlap(step, members);
  const std::vector<StreamIndex> streams = streams_of(engine, members);
  const StreamIndex stream = streams.front();
  if (streams.size() > 1) wait_for_streams(engine, step.rank, rank, streams);
  TaskRecord& task = engine.tasks.begin_task(step, stream);
  task.link = TaskRecord::Link::kGroup;
  std::vector<CommunicationItem> items;
  for (ResolvedCall& member : members) {
    const CodeInstruction& inner = engine.run.code->instructions[member.item.code];
    for (const BufferAccess& touch : member.accesses) {
      if (!engine.buffers.note_access(step, stream, touch)) return false;
    }
    const bool arrived = communication_facts(inner.kind)->point_to_point
                             ? engine.meetings.arrive_pair(step, task, member)
                             : engine.meetings.arrive(step, task, member);
    if (!arrived) return false;
    items.push_back(std::move(member.item));
  }
  if (!engine.tasks.issue(step, task, {}, items)) return false;
  if (streams.size() > 1) go_on_behind(engine, rank, streams, step.task);
  engine.tasks.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
