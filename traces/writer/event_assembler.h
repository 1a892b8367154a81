// Joins "issued" and "finished" records into events.
//
// Events get their ids in order of issue and leave in that order once complete. A task that is in
// flight for very long does not block the others: it is delivered late, on its own. Task ids are
// dense per rank, so tasks are found by index. Information about a task is kept for a while after
// it finishes, because the digests of its outputs arrive later. Used only by the writer's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "interp/core/trace_sink.h"
#include "interp/session/log/log_records.h"

namespace hostir::traces {

/// The ledger's part of an event. Members of a group have the times of the group's task.
struct CollectivePart {
  interp::CommIndex comm = interp::kNoComm;  // kNoComm: not a communication
  uint64_t sequence = 0;
  int32_t peer = -1;
  int64_t arrival_ns = interp::kUnknownNs;
  int64_t start_ns = interp::kUnknownNs;
  int64_t finish_ns = interp::kUnknownNs;
};

struct AssembledEvent {
  interp::LogEvent event;
  CollectivePart collective;
  int64_t next_of_task = -1;  // for a group's task: the event of its next member
  bool complete = false;
};

class EventAssembler {
 public:
  enum class Delivery : uint8_t {
    kInOrder,  // complete, in order of id
    kLate,     // on its own: incomplete, or delivered incomplete before
  };
  using Deliver = std::function<void(const AssembledEvent&, Delivery)>;

  explicit EventAssembler(Deliver deliver) : deliver_(std::move(deliver)) {}

  void issued(const interp::IssuedRecord& record);
  void finished(const interp::FinishedRecord& record);

  /// Delivers everything, including work in flight.
  void drain();
  int64_t event_count() const { return next_id_; }

  /// Information about a task, while it is kept.
  struct TaskInfo {
    int64_t event = -1;
    uint32_t branch = 0;
    interp::CodeIndex code = 0;
  };
  const TaskInfo* find_task(interp::TaskId task) const;

 private:
  /// The tasks of one rank by number; size is a power of two and grows as needed to keep unfinished
  /// tasks.
  struct TaskSlot {
    interp::TaskId task = interp::kNoTask;
    TaskInfo info;
    bool pending = false;
  };
  using TaskWindow = std::vector<TaskSlot>;

  TaskSlot& slot_for(interp::TaskId task);
  std::vector<int64_t>& open_members(interp::Rank rank);
  AssembledEvent* find(int64_t id);
  void complete(AssembledEvent& entry, const interp::FinishedRecord& record);
  void deliver_ready();
  /// Delivers the event as it is, because it may never complete. If it does, it is delivered again.
  void deliver_incomplete(const AssembledEvent& entry);
  AssembledEvent& held(int64_t id) { return ring_[static_cast<size_t>(id) & (ring_.size() - 1)]; }

  Deliver deliver_;
  int64_t next_id_ = 0;  // of the next issued event
  int64_t head_id_ = 0;  // oldest undelivered event; [head_id_, next_id_) are held
  std::vector<AssembledEvent> ring_ = std::vector<AssembledEvent>(1024);
  std::unordered_map<int64_t, AssembledEvent> late_;
  std::vector<TaskWindow> windows_;  // by rank
  std::vector<std::vector<int64_t>>
      open_members_;  // by rank: event ids of members of an open group
};

}  // namespace hostir::traces
