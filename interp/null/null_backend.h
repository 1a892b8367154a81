// The backend that does nothing: the template for new backends, and the baseline for measuring the
// interpreter.
//
// It does only what every backend must do: tasks of a stream run in order, a task starts after the
// events it waits for, a communication completes when all its members have arrived. Everything
// takes no time, and there is no data: reads return zeros. Cost matters here: a task that can run
// at once is one entry in a list. For tests it also simulates a device whose work takes real time,
// and remote ranks that arrive at meetings late or never (`NullOptions`).
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "interp/core/backend.h"

namespace hostir::interp {

struct NullOptions {
  std::vector<Rank> local_ranks;   // empty: all
  int64_t task_ns = 0;             // real time per task
  int64_t remote_ns = 0;           // delay of the remote members after the local ones
  std::vector<Rank> absent_ranks;  // remote ranks that never arrive
  int64_t p2p_buffer_bytes = 0;    // see Machine::p2p_buffer_bytes
};

class NullBackend final : public Backend, private Checkpoints {
 public:
  NullBackend() = default;
  explicit NullBackend(NullOptions options);
  Capabilities capabilities() const override;
  Expected<void> prepare(const Code& code) override;
  Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                       int64_t offset_bytes, std::span<const std::byte> data) override;
  const Error* issue(std::span<const Task> tasks) override;
  int64_t now_ns() const override;
  Progress poll(const Hosts& hosts, CompletionSink& sink) override;
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override;
  /// Work that takes real time cannot be undone.
  Checkpoints* checkpoints() override { return plays_ ? nullptr : this; }
  void set_value_mode(ValueMode) override {}
  std::string describe(CodeIndex, Rank) const override { return "null"; }

  /// The identity of a communication: a collective of a group, or one send/recv.
  struct Meeting {
    CommIndex comm = 0;
    Rank first = 0;         // first member of the group; source of a send/recv
    Rank second = kNoRank;  // target of a send/recv
    uint64_t sequence = 0;
    uint32_t members = 0;
    uint32_t remote = 0;      // number of remote members
    bool hopeless = false;    // one member never arrives
    int64_t sent_bytes = -1;  // send: its bytes; else negative
  };
  /// A task that could not complete when it was issued.
  struct Held {
    TaskId id = kNoTask;
    int64_t issued_ns = 0;
    bool arrived = false;
    int64_t due_ns = -1;        // completion time, if tasks take time
    Meeting meeting;            // members == 0: none
    std::vector<Meeting> more;  // for a group { }
    std::vector<TaskId> waits;
  };
  struct Place {
    Meeting meeting;
    uint32_t arrived = 0;
    uint32_t left = 0;
    bool buffered = false;       // the sender does not wait
    int64_t remote_due_ns = -1;  // arrival time of the remote members
  };
  struct Queues {
    std::vector<Completion> done;            // delivered by the next poll
    std::vector<std::vector<Held>> streams;  // by rank * streams + stream
    std::vector<Place> places;
    std::vector<uint64_t> awake;  // bit per stream: its head may be able to advance
    uint32_t held = 0;
    bool any_awake = false;
  };

 private:
  Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const override;
  Expected<void> restore(const BackendCheckpoint& checkpoint) override;

  void issue_one(const Task& task);
  Meeting meeting_of(const CommunicationItem& item, Rank rank) const;
  bool is_local(Rank rank) const;
  bool is_due(Held& task) const;
  bool has_met(Place& place) const;
  bool is_over(const Meeting& meeting, Place& place) const;
  bool is_pending() const;
  bool is_held(TaskId id) const;
  bool finish(Held& task);
  Place& arrive(const Meeting& meeting);
  Place& place(const Meeting& meeting);
  void leave(Place& place);
  void release();
  void wake(size_t stream) {
    queues_.awake[stream / 64] |= uint64_t{1} << (stream % 64);
    queues_.any_awake = true;
  }
  void release_head(size_t stream);

  NullOptions options_;
  bool plays_ = false;  // some option is set
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  size_t stream_count_ = 0;
  Queues queues_;
};

}  // namespace hostir::interp
