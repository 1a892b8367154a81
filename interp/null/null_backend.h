// The backend that does nothing: the template for a new one, and the measure of the interpreter.
//
// It keeps only what every backend must: tasks of a stream run in order, a task starts after the
// events it waits for, a communication completes when all its members have come. Everything takes
// no time, and there is no data: reading gives zeros. Cost matters here: a task that can run at
// once is one entry in a list.
#pragma once

#include <memory>
#include <vector>

#include "interp/core/backend.h"

namespace hostir::interp {

class NullBackend final : public Backend {
 public:
  Capabilities capabilities() const override;
  Expected<void> prepare(const Code& code) override;
  Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                       int64_t offset_bytes, std::span<const std::byte> data) override;
  const Error* issue(const Task& task) override;
  int64_t poll(std::span<const HostState> hosts, CompletionSink& sink) override;
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override;
  Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const override;
  Expected<void> restore(const BackendCheckpoint& checkpoint) override;
  void set_value_mode(ValueMode) override {}
  std::string describe(CodeIndex, Rank) const override { return "null"; }

  /// A communication as its members see it: a collective of a group, or one send/recv.
  struct Meeting {
    CommIndex comm = 0;
    Rank first = 0;         // first member of the group; source of a send/recv
    Rank second = kNoRank;  // target of a send/recv
    uint64_t sequence = 0;
    uint32_t members = 0;
  };
  /// A task that could not complete when it was issued.
  struct Held {
    TaskId id = kNoTask;
    int64_t issued_ns = 0;
    bool arrived = false;
    Meeting meeting;            // members == 0: none
    std::vector<Meeting> more;  // of a group { }
    std::vector<TaskId> waits;
  };
  struct Place {
    Meeting meeting;
    uint32_t arrived = 0;
    uint32_t left = 0;
  };
  struct Queues {
    std::vector<Completion> done;            // delivered by the next poll
    std::vector<std::vector<Held>> streams;  // by rank * streams + stream
    std::vector<Place> places;
    std::vector<uint64_t> awake;  // bit per stream: something happened that may let its head go on
    uint32_t held = 0;
    bool any_awake = false;
  };

 private:
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

  size_t stream_count_ = 0;
  Queues queues_;
};

}  // namespace hostir::interp
