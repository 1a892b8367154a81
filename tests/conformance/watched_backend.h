// A wrapper that checks a backend's contract at every call.
//
// Every accepted task completes exactly once, not before it was issued, in stream order, and not
// before the tasks it waits for. One poll delivers completions in order of finish time, rank and
// id, and counts them. After a restore, previous records are dropped, because only the backend then
// knows which tasks are in flight.
#pragma once

#include <map>
#include <memory>

#include "interp/core/backend.h"

namespace hostir::conformance {

class WatchedBackend final : public interp::Backend, private interp::Checkpoints {
 public:
  explicit WatchedBackend(std::unique_ptr<interp::Backend> inner) : inner_(std::move(inner)) {}

  interp::Capabilities capabilities() const override { return inner_->capabilities(); }
  Expected<void> prepare(const interp::Code& code) override { return inner_->prepare(code); }
  Expected<void> write(interp::Rank rank, interp::AllocationId allocation,
                       const Placement& placement, int64_t offset_bytes,
                       std::span<const std::byte> data) override {
    return inner_->write(rank, allocation, placement, offset_bytes, data);
  }
  int64_t now_ns() const override { return inner_->now_ns(); }
  Expected<std::unique_ptr<interp::TaskPlan>> plan(const interp::Task& task) override {
    return inner_->plan(task);
  }
  const Error* issue(std::span<const interp::Task> tasks) override;
  interp::Progress poll(const interp::Hosts& hosts, interp::CompletionSink& sink) override;
  Expected<Tensor> read(interp::Rank rank, const interp::BufferRef& buffer,
                        const Box& box) const override {
    return inner_->read(rank, buffer, box);
  }
  interp::Progress wait(const interp::Hosts& hosts, interp::CompletionSink& sink,
                        int64_t timeout_ns) override;
  interp::Checkpoints* checkpoints() override {
    return inner_->checkpoints() != nullptr ? this : nullptr;
  }
  interp::ElementQueries* elements() override { return inner_->elements(); }
  interp::Peers* peers() override { return inner_->peers(); }
  void set_stepwise(bool stepwise) override { inner_->set_stepwise(stepwise); }
  void set_value_mode(ValueMode mode) override { inner_->set_value_mode(mode); }
  std::string describe(interp::CodeIndex code, interp::Rank rank) const override {
    return inner_->describe(code, rank);
  }
  kernels::KernelWork kernel_work(interp::CodeIndex code, interp::Rank rank) const override {
    return inner_->kernel_work(code, rank);
  }

  /// Tasks accepted but not completed; 0 when a run is over.
  size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Watched {
    interp::StreamIndex stream = 0;
    int64_t issued_ns = 0;
    std::vector<interp::TaskId> waits_for;
  };
  class Guard;

  Expected<std::unique_ptr<interp::BackendCheckpoint>> checkpoint() const override {
    return inner_->checkpoints()->checkpoint();
  }
  Expected<void> restore(const interp::BackendCheckpoint& checkpoint) override;

  std::unique_ptr<interp::Backend> inner_;
  std::map<interp::TaskId, Watched> in_flight_;
  bool restored_ = false;
};

}  // namespace hostir::conformance
