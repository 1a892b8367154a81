// The backend that does nothing: the template for a new one, and the measure of the interpreter.
//
// Every task completes at the next poll, at the time it was issued. There is no data: reading gives
// zeros. Checkpoints are the list of tasks in flight.
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
  void issue(const Task& task) override;
  int64_t poll(std::span<const HostState> hosts, CompletionSink& sink) override;
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override;
  Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const override;
  Expected<void> restore(const BackendCheckpoint& checkpoint) override;
  void set_value_mode(ValueMode) override {}
  std::string describe(CodeIndex, Rank) const override { return "null"; }

 private:
  std::vector<Completion> done_;
};

}  // namespace hostir::interp
