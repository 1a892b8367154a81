#include "traces/writer/event_assembler.h"

#include <algorithm>

namespace hostir::traces {
namespace {

constexpr size_t kFirstWindow = 256;   // per rank; grows with the number of tasks in flight
constexpr int64_t kMaxHeld = 1 << 18;  // events held back by an older one in flight

interp::LogEvent event_of(const interp::IssuedRecord& record, int64_t id) {
  interp::LogEvent event;
  event.id = id;
  event.decision = record.decision;
  event.branch = record.branch;
  event.rank = record.rank;
  event.stream = record.stream == interp::kNoStream || record.task == interp::kNoTask
                     ? -1
                     : static_cast<int32_t>(record.stream);
  event.instruction = record.code;
  event.loop_path = record.loop_path;
  event.task = record.task;
  event.waited_for = record.waits_for;
  event.host_start_ns = record.host_start_ns;
  event.host_end_ns = record.host_end_ns;
  event.waited_ns = record.waited_ns;
  event.bytes = record.bytes;
  return event;
}

}  // namespace

EventAssembler::TaskSlot& EventAssembler::slot_for(interp::TaskId task) {
  const auto rank = static_cast<size_t>(interp::task_rank(task));
  if (rank >= windows_.size()) windows_.resize(rank + 1);
  TaskWindow& window = windows_[rank];
  if (window.empty()) window.resize(kFirstWindow);
  while (true) {
    TaskSlot& slot = window[static_cast<size_t>(interp::task_number(task)) & (window.size() - 1)];
    if (!slot.pending || slot.task == task) return slot;
    TaskWindow larger(window.size() * 2);
    for (const TaskSlot& old : window) {
      if (old.task == interp::kNoTask) continue;
      TaskSlot& place =
          larger[static_cast<size_t>(interp::task_number(old.task)) & (larger.size() - 1)];
      if (!place.pending) place = old;
    }
    window = std::move(larger);
  }
}

std::vector<int64_t>& EventAssembler::open_members(interp::Rank rank) {
  const auto index = static_cast<size_t>(std::max(rank, 0));
  if (index >= open_members_.size()) open_members_.resize(index + 1);
  return open_members_[index];
}

void EventAssembler::issued(const interp::IssuedRecord& record) {
  if (next_id_ - head_id_ == static_cast<int64_t>(ring_.size())) {
    std::vector<AssembledEvent> larger(ring_.size() * 2);
    for (int64_t id = head_id_; id < next_id_; ++id) {
      larger[static_cast<size_t>(id) & (larger.size() - 1)] = held(id);
    }
    ring_ = std::move(larger);
  }
  const int64_t id = next_id_++;
  AssembledEvent& entry = held(id);
  entry = {};
  entry.event = event_of(record, id);
  entry.collective.comm = record.comm;
  entry.collective.sequence = record.sequence;
  entry.collective.peer = record.peer;
  if (record.task != interp::kNoTask) {
    std::vector<int64_t>& members = open_members(record.rank);
    int64_t next = -1;
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      if (AssembledEvent* found = find(*member)) {
        found->next_of_task = next;
        next = *member;
      }
    }
    members.clear();
    held(id).next_of_task = next;
    // The same number again, still unfinished: the history was rewound, and the earlier task never
    // finishes.
    slot_for(record.task) = {record.task, {id, record.branch, record.code}, true};
  } else if (record.comm != interp::kNoComm) {
    open_members(record.rank).push_back(id);  // a member: its group is issued later
  } else {
    entry.complete = true;
  }
  deliver_ready();
}

AssembledEvent* EventAssembler::find(int64_t id) {
  if (id >= head_id_) return &held(id);
  const auto late = late_.find(id);
  return late == late_.end() ? nullptr : &late->second;
}

void EventAssembler::finished(const interp::FinishedRecord& record) {
  TaskSlot& slot = slot_for(record.task);
  if (slot.task != record.task || !slot.pending) return;  // issued before the log began
  slot.pending = false;
  int64_t id = slot.info.event;
  if (AssembledEvent* entry = find(id)) {
    entry->event.queued_ns = record.queued_ns;
    entry->event.start_ns = record.started_ns;
    entry->event.finish_ns = record.finished_ns;
    entry->event.live_bytes = record.live_bytes;
  }
  while (AssembledEvent* entry = id < 0 ? nullptr : find(id)) {
    const int64_t next = entry->next_of_task;
    complete(*entry, record);
    id = next;
  }
  deliver_ready();
}

void EventAssembler::complete(AssembledEvent& entry, const interp::FinishedRecord& record) {
  entry.collective.arrival_ns = record.queued_ns;
  entry.collective.start_ns = record.started_ns;
  entry.collective.finish_ns = record.finished_ns;
  entry.complete = true;
  const int64_t id = entry.event.id;
  if (id >= head_id_) return;
  deliver_(entry, Delivery::kLate);
  late_.erase(id);
}

void EventAssembler::deliver_ready() {
  while (head_id_ < next_id_) {
    AssembledEvent& entry = held(head_id_);
    if (!entry.complete) {
      if (next_id_ - head_id_ < kMaxHeld) return;
      deliver_incomplete(entry);
      ++head_id_;
      continue;
    }
    ++head_id_;
    deliver_(entry, Delivery::kInOrder);
  }
}

void EventAssembler::drain() {
  for (; head_id_ < next_id_; ++head_id_) {
    AssembledEvent& entry = held(head_id_);
    if (entry.complete) {
      deliver_(entry, Delivery::kInOrder);
    } else {
      deliver_incomplete(entry);
    }
  }
}

void EventAssembler::deliver_incomplete(const AssembledEvent& entry) {
  deliver_(late_.emplace(entry.event.id, entry).first->second, Delivery::kLate);
}

const EventAssembler::TaskInfo* EventAssembler::find_task(interp::TaskId task) const {
  const auto rank = static_cast<size_t>(interp::task_rank(task));
  if (rank >= windows_.size() || windows_[rank].empty()) return nullptr;
  const TaskWindow& window = windows_[rank];
  const TaskSlot& slot =
      window[static_cast<size_t>(interp::task_number(task)) & (window.size() - 1)];
  return slot.task == task ? &slot.info : nullptr;
}

}  // namespace hostir::traces
