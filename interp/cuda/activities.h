// When the kernels, copies and memsets of a task ran, as CUPTI measures it on the device.
//
// CUPTI is loaded on first use, never linked. There is one collector per process, because CUPTI has
// one; backends share it. Its buffers are handed over by CUPTI's own thread, or by flush(). Absent:
// NCCL calls that another thread makes; those have the times of their events.
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hostir/support/expected.h"

namespace hostir::cuda {

struct ActivitySpan {
  int64_t started_ns = 0;  // steady clock; the first activity
  int64_t finished_ns = 0;
};

class Activities {
 public:
  /// Errors: `cupti_missing` with the reason.
  static Expected<std::shared_ptr<Activities>> open();
  virtual ~Activities() = default;

  /// What this thread enqueues until end() belongs to the returned number, never 0.
  virtual uint64_t begin() = 0;
  virtual void end() = 0;
  /// nullopt while some of it is unknown, or if nothing was enqueued.
  virtual std::optional<ActivitySpan> find(uint64_t number) const = 0;
  /// Forgets this number.
  virtual void forget(uint64_t number) = 0;
  /// Hands over what has been completed. Takes some 10 us.
  virtual void flush() = 0;
  /// `12 buffers, 340 activities, 340 calls`.
  virtual std::string description() const = 0;
};

}  // namespace hostir::cuda
