// A backend behind a guard that holds it to its contract at every call.
//
// Every task that was taken completes once, not before it was issued, in order of its stream, and
// not before what it waits for; one poll delivers in order of finish time, rank and id, and counts
// what it delivers. Restoring forgets what was watched until then: which tasks are in flight is
// known to the backend alone.
#pragma once

#include <map>
#include <memory>

#include "interp/core/backend.h"

namespace hostir::conformance {

class WatchedBackend final : public interp::Backend {
 public:
  explicit WatchedBackend(std::unique_ptr<interp::Backend> inner) : inner_(std::move(inner)) {}

  interp::Capabilities capabilities() const override { return inner_->capabilities(); }
  Expected<void> prepare(const interp::Code& code) override { return inner_->prepare(code); }
  Expected<void> write(interp::Rank rank, interp::AllocationId allocation,
                       const Placement& placement, int64_t offset_bytes,
                       std::span<const std::byte> data) override {
    return inner_->write(rank, allocation, placement, offset_bytes, data);
  }
  const Error* issue(const interp::Task& task) override;
  int64_t poll(std::span<const interp::HostState> hosts, interp::CompletionSink& sink) override;
  Expected<Tensor> read(interp::Rank rank, const interp::BufferRef& buffer,
                        const Box& box) const override {
    return inner_->read(rank, buffer, box);
  }
  Expected<std::unique_ptr<interp::BackendCheckpoint>> checkpoint() const override {
    return inner_->checkpoint();
  }
  Expected<void> restore(const interp::BackendCheckpoint& checkpoint) override;
  void set_value_mode(ValueMode mode) override { inner_->set_value_mode(mode); }
  std::string describe(interp::CodeIndex code, interp::Rank rank) const override {
    return inner_->describe(code, rank);
  }
  interp::KernelWork kernel_work(interp::CodeIndex code, interp::Rank rank) const override {
    return inner_->kernel_work(code, rank);
  }

  /// Taken and not completed; 0 when a run is over.
  size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Watched {
    interp::StreamIndex stream = 0;
    int64_t issued_ns = 0;
    std::vector<interp::TaskId> waits_for;
  };
  class Guard;

  std::unique_ptr<interp::Backend> inner_;
  std::map<interp::TaskId, Watched> in_flight_;
  bool restored_ = false;
};

}  // namespace hostir::conformance
