#include "interp/diagnose/engine/queues.h"

#include <algorithm>

namespace hostir::diagnose {

using model::Member;
using model::Task;
using model::TaskState;

Queues::Queues(const model::Run& run) : run_(run) {
  add_members();
  for (const Task& task : run.tasks) {
    if (task.state == TaskState::kFinished) continue;
    QueueHead& head = heads_[{task.rank(), task.stream, {}, model::kNoRank}];
    if (head.task != nullptr) continue;
    head.task = &task;
    const auto members = members_of_.find(task.id);
    if (members != members_of_.end()) head.members = members->second;
  }
}

void Queues::add_members() {
  for (const model::Meeting& meeting : run_.meetings) {
    for (const Member& m : meeting.members) add({&meeting, nullptr, &m});
  }
  for (const model::SendRecv& pair : run_.pairs) {
    add({nullptr, &pair, &pair.send});
    add({nullptr, &pair, &pair.recv});
  }
}

void Queues::add(const MemberRef& ref) {
  if (!ref.member->unfinished()) return;
  if (ref.member->task != model::kNoTask) {
    members_of_[ref.member->task].push_back(ref);
    return;
  }
  // All calls that were issued together are at the head: any of them can be the one that blocks.
  QueueHead& head = heads_[key_of(ref)];
  if (!head.members.empty()) {
    const MemberRef& first = head.members.front();
    const bool ordered = ref.member->order && first.member->order;
    const bool together = ordered && *ref.member->order == *first.member->order;
    const bool before =
        ordered ? *ref.member->order < *first.member->order : ref.sequence() < first.sequence();
    if (!before && !together) return;
    if (before) head.members.clear();
  }
  head.members.push_back(ref);
}

QueueKey Queues::key_of(const MemberRef& ref) {
  if (ref.member->task != model::kNoTask)
    return {ref.member->rank, ref.member->stream, {}, model::kNoRank};
  model::Rank peer = model::kNoRank;
  if (ref.pair != nullptr) peer = ref.peer();
  return {ref.member->rank, {}, ref.communicator(), peer};
}

const QueueHead* Queues::head_of(const MemberRef& ref) const {
  const auto at = heads_.find(key_of(ref));
  return at == heads_.end() ? nullptr : &at->second;
}

bool Queues::is_ready(const MemberRef& ref) const {
  if (!ref.member->unfinished()) return false;
  if (ref.member->at_head) return *ref.member->at_head;
  const QueueHead* head = head_of(ref);
  if (head == nullptr) return false;
  if (ref.member->task == model::kNoTask) {
    return std::any_of(head->members.begin(), head->members.end(),
                       [&](const MemberRef& m) { return m.member == ref.member; });
  }
  if (head->task == nullptr || head->task->id != ref.member->task) return false;
  return std::none_of(head->task->waits_for.begin(), head->task->waits_for.end(),
                      [&](model::TaskId on) { return unfinished_task(on) != nullptr; });
}

const Task* Queues::unfinished_task(model::TaskId id) const {
  const Task* task = id == model::kNoTask ? nullptr : run_.task(id);
  return task != nullptr && task->state != TaskState::kFinished ? task : nullptr;
}

}  // namespace hostir::diagnose
