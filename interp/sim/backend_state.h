// Internals of the simulator's backend, for the files that implement it.
//
// `State` is everything that a decision can change; copying it is a checkpoint. Everything else is
// created once: kernels and placements.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>

#include "hostir/ops/collective_cost.h"
#include "interp/sim/schedule.h"
#include "interp/sim/sim_backend.h"
#include "interp/sim/stored_task.h"

namespace hostir::sim {

struct State {
  explicit State(Rank ranks = 0) : memory(ranks), timeline(ranks) {}
  SimMemory memory;
  Timeline timeline;
  std::map<TaskId, std::shared_ptr<const StoredTask>> tasks;  // shared with checkpoints
  std::map<std::pair<TaskId, uint32_t>, Piece> buffered;  // sent, not received; by task and item
};

class SimCheckpoint : public interp::BackendCheckpoint {
 public:
  explicit SimCheckpoint(State state) : state_(std::move(state)) {}
  int64_t memory_bytes() const override { return state_.memory.exclusive_bytes(); }
  /// The chunks and, under this object's own address, everything else in the checkpoint.
  std::vector<interp::MemoryBlock> blocks() const override;
  const State& state() const { return state_; }

 private:
  State state_;
};

class SimBackend : public interp::Backend,
                   private interp::Checkpoints,
                   private interp::ElementQueries {
 public:
  explicit SimBackend(const SimOptions& options);

  interp::Capabilities capabilities() const override;
  Expected<void> prepare(const interp::Code& code) override;
  Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                       int64_t offset_bytes, std::span<const std::byte> data) override;
  const Error* issue(std::span<const interp::Task> tasks) override;
  interp::Progress poll(const interp::Hosts& hosts, interp::CompletionSink& sink) override;
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override;
  void set_value_mode(ValueMode mode) override { value_mode_ = mode; }
  std::string describe(interp::CodeIndex code, Rank rank) const override;
  kernels::KernelWork kernel_work(interp::CodeIndex code, Rank rank) const override;
  interp::Checkpoints* checkpoints() override { return this; }
  interp::ElementQueries* elements() override { return computes() ? this : nullptr; }

 private:
  bool computes() const { return options_.values == SimOptions::Values::kComputed; }
  Expected<std::unique_ptr<interp::BackendCheckpoint>> checkpoint() const override;
  Expected<void> restore(const interp::BackendCheckpoint& checkpoint) override;
  Expected<interp::LaunchElement> launch_element(const interp::LaunchQuery& query) override;
  Expected<interp::ExchangeElement> exchange_element(const interp::ExchangeQuery& query) override;

  // issue.cpp
  const Error* issue_one(const interp::Task& task);
  BufferRef kept(BufferRef ref);
  StoredTask::Work work_of(const interp::Task& task) const;
  bool fits(const interp::Task& task);
  void store_items(const interp::Task& task, StoredTask& stored, TimedTask& timed);
  TimedItem timed_item(const interp::CommunicationItem& item, OpKind kind, Rank rank, bool grouped);
  bool find_plan(const interp::Task& task, StoredTask& stored, TimedTask& timed);
  /// From the machine's cost model, before a schedule scales it.
  struct ItemCost {
    double bytes = 0;  // as nccl-tests counts
    double ns = 0;
    double latency_ns = 0;  // part of the time that does not depend on bytes
  };
  ItemCost cost_of(const interp::CommunicationItem& item, OpKind kind,
                   std::span<const Rank> members);

  // execute.cpp
  void start(const TimelineEvent& event);
  void exchange(const TimelineEvent& event);
  void finish(const TimelineEvent& event, interp::CompletionSink& sink);
  void summarise(const StoredTask& task, interp::CompletionSink& sink);
  interp::ValueSummary summary(const StoredTask& task, const BufferRef& ref, uint16_t operand);

  // element_launch.cpp
  Expected<Tensor> run_whole(LaunchPlan& plan, const interp::LaunchQuery& query,
                             size_t result) const;
  ChunkRef contents(Rank rank, const BufferRef& ref) const;

  // launch.cpp
  void launch(const StoredTask& task);

  SimOptions options_;
  int64_t physical_bytes_ = INT64_MAX;
  const interp::Code* code_ = nullptr;
  PlacementPool placements_;
  LaunchPlans plans_;
  State state_;
  ValueMode value_mode_ = ValueMode::kDigest;
  uint64_t next_version_ = 1;
  /// Bound inputs by digest and size, so that equal inputs share memory; cleared at the first
  /// issue.
  std::multimap<std::pair<uint64_t, int64_t>, ChunkRef> inputs_;

  std::map<const Rank*, GroupPlace> group_places_;  // by the group's members in the code
  std::deque<std::array<Rank, 2>> ends_;            // of each send and recv being issued
  std::vector<TimelineEvent> events_;               // scratch of one poll()
  Error refusal_;                                   // of the last task that was refused
};

}  // namespace hostir::sim
