#include <fmt/core.h>

#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_group(Engine& engine, Step& step);

// Issues its members, resolved as they were stepped, as one task with one event.
bool execute_group(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  if (rank.open_group.empty()) return true;
  std::vector<OpenItem> members = std::move(rank.open_group);
  rank.open_group.clear();
  StreamIndex stream = engine.code->instructions[members.front().item.code].stream;
  TaskRecord& task = engine.begin_task(step, stream);
  task.link = TaskRecord::Link::kGroup;
  std::vector<CommunicationItem> items;
  for (OpenItem& member : members) {
    const CodeInstruction& inner = engine.code->instructions[member.item.code];
    if (inner.stream != stream) {
      return engine.fault(step, "group_streams",
                          fmt::format("rank {}: {} has members on streams \"{}\" and \"{}\"",
                                      step.rank, engine.name_of(step), engine.code->streams[stream],
                                      engine.code->streams[inner.stream]));
    }
    for (const Touch& touch : member.touches) {
      if (!engine.touch(step, stream, touch)) return false;
    }
    engine.note_unfilled(rank, member.item);
    const bool arrived = communication_facts(inner.kind)->point_to_point
                             ? engine.arrive_pair(step, task, member)
                             : engine.arrive(step, task, member);
    if (!arrived) return false;
    items.push_back(std::move(member.item));
  }
  if (!engine.issue(step, task, {}, items)) return false;
  engine.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
