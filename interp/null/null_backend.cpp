#include "interp/null/null_backend.h"

#include <utility>

namespace hostir::interp {

namespace {

class NullCheckpoint final : public BackendCheckpoint {
 public:
  explicit NullCheckpoint(std::vector<Completion> pending) : done(std::move(pending)) {}
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(done.size() * sizeof(Completion));
  }
  std::vector<Completion> done;
};

}  // namespace

Capabilities NullBackend::capabilities() const {
  Capabilities c;
  c.name = "null";
  c.virtual_time = true;
  c.checkpoints = true;
  return c;
}

Expected<void> NullBackend::prepare(const Code&) {
  done_.clear();
  return {};
}

Expected<void> NullBackend::write(Rank, AllocationId, const Placement&, int64_t,
                                  std::span<const std::byte>) {
  return {};
}

void NullBackend::issue(const Task& task) {
  done_.push_back({task.id, task.issued_ns, task.issued_ns, task.issued_ns});
}

int64_t NullBackend::poll(std::span<const HostState>, CompletionSink& sink) {
  const auto count = static_cast<int64_t>(done_.size());
  for (const Completion& completion : done_) sink.completed(completion);
  done_.clear();
  return count;
}

Expected<Tensor> NullBackend::read(Rank, const BufferRef& buffer, const Box& box) const {
  return Tensor::zeros(buffer.placement->dtype, box.extents());
}

Expected<std::unique_ptr<BackendCheckpoint>> NullBackend::checkpoint() const {
  return std::unique_ptr<BackendCheckpoint>(std::make_unique<NullCheckpoint>(done_));
}

Expected<void> NullBackend::restore(const BackendCheckpoint& checkpoint) {
  done_ = static_cast<const NullCheckpoint&>(checkpoint).done;
  return {};
}

}  // namespace hostir::interp
