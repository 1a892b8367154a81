// Times of CUDA events on the host's clock.
//
// An event's time is its distance from a base event, whose time on the host's clock is known within
// a few us. The two clocks drift apart, and the driver gives distances as floats of milliseconds,
// so the base is renewed when it is old.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "interp/cuda/device.h"

namespace hostir::cuda {

class EventClock {
 public:
  explicit EventClock(const RunClock& clock) : clock_(clock) {}
  ~EventClock();
  EventClock(const EventClock&) = delete;
  EventClock& operator=(const EventClock&) = delete;

  /// `stream` belongs to the current device, like all events, and is idle at every call of a
  /// method.
  cudaError_t start(cudaStream_t stream);
  /// The time of an event that has happened, in ns of the run.
  cudaError_t time_ns(cudaEvent_t event, int64_t& time);
  /// Width of the interval that contains the base's time.
  int64_t uncertainty_ns() const { return uncertainty_ns_; }

 private:
  cudaError_t renew(int tries);

  const RunClock& clock_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t base_ = nullptr;
  cudaEvent_t next_ = nullptr;  // the best base of a renewal
  cudaEvent_t tried_ = nullptr;
  int64_t base_ns_ = 0;
  int64_t uncertainty_ns_ = 0;
};

}  // namespace hostir::cuda
