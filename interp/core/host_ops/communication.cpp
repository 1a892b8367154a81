// Every communication op: resolved, entered in the ledger, and passed to the backend as one task.
// Inside a group it is kept for the group's task.

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_communication(Engine& engine, Step& step);

namespace {

// The sequence number under which it meets the other members.
uint64_t take_sequence(Engine& engine, const Step& step, const CommunicationItem& item,
                       bool point_to_point) {
  Ledger& ledger = engine.run.state.ledger;
  if (!point_to_point) {
    const auto ranks = static_cast<size_t>(engine.run.code->rank_count);
    return ledger.next_sequence[item.comm * ranks + static_cast<size_t>(step.rank)]++;
  }
  const Rank other = item.other();
  return item.sends() ? ledger.counter(item.comm, step.rank, other).sent++
                      : ledger.counter(item.comm, other, step.rank).received++;
}

}  // namespace

bool execute_communication(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  const bool pair = communication_facts(step.code.kind)->point_to_point;
  if (step.code.group != kNoCode) {
    ResolvedCall item;
    if (!engine.communication.resolve(step, item)) return false;
    item.item.sequence = take_sequence(engine, step, item.item, pair);
    step.sequence = item.item.sequence;
    step.comm = item.item.comm;
    step.peer = item.item.peer;
    step.bytes = engine.communication.bytes_of(item);
    const IssuePlan& bound = engine.operands.plan(step);
    for (size_t i = 0; i < bound.buffers.size(); ++i) {
      item.accesses.push_back(
          engine.buffers.access_of(step, bound.buffers[i], bound.refs[i], item.item));
    }
    if (!engine.communication.check_overlap(step, item)) return false;
    rank.open_group.push_back(std::move(item));
    step.arrival = &rank.open_group.back().arrival;
    return true;
  }
  IssuePlan& plan = engine.operands.plan(step);
  ResolvedCall& item = plan.communication;
  if (!engine.communication.resolve(step, item)) return false;
  item.item.sequence = take_sequence(engine, step, item.item, pair);
  TaskRecord& task = engine.tasks.begin_task(step, step.code.stream);
  task.comm = item.item.comm;
  task.comm_sequence = item.item.sequence;
  task.link = pair ? TaskRecord::Link::kPair : TaskRecord::Link::kMeeting;
  step.sequence = item.item.sequence;
  step.comm = item.item.comm;
  step.peer = item.item.peer;
  step.bytes = engine.communication.bytes_of(item);
  step.arrival = &item.arrival;
  if (!engine.communication.check_overlap(step, item) ||
      !engine.buffers.note_accesses(step, plan, &item.item)) {
    return false;
  }
  const bool arrived = pair ? engine.meetings.arrive_pair(step, task, item)
                            : engine.meetings.arrive(step, task, item);
  if (!arrived) return false;
  if (!engine.tasks.issue(step, task, {}, {&item.item, 1})) return false;
  engine.tasks.set_event(step, 0);
  return true;
}

}  // namespace hostir::interp
