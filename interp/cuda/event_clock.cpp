#include "interp/cuda/event_clock.h"

#include <algorithm>
#include <utility>

namespace hostir::cuda {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRenewAfterNs = 250 * kNsPerMs;
constexpr int kTriesAtStart = 8;
constexpr int kTriesLater = 3;

cudaError_t distance_ns(cudaEvent_t from, cudaEvent_t to, int64_t& distance) {
  float ms = 0;
  const cudaError_t status = cudaEventElapsedTime(&ms, from, to);
  distance = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  return status;
}

}  // namespace

EventClock::~EventClock() {
  for (cudaEvent_t event : {base_, next_, tried_}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

cudaError_t EventClock::start(cudaStream_t stream) {
  stream_ = stream;
  for (cudaEvent_t* event : {&next_, &tried_}) {
    if (const auto status = cudaEventCreate(event); status != cudaSuccess) return status;
  }
  return renew(kTriesAtStart);
}

// The new base lies between two readings of the host's clock; the narrowest of several such pairs
// counts. Within the pair the base keeps its time by the old base, so that a task does not change
// its length if one of its events is timed before the renewal and the other after it.
cudaError_t EventClock::renew(int tries) {
  int64_t begin_ns = 0;
  int64_t end_ns = INT64_MAX;
  for (int i = 0; i < tries; ++i) {
    const int64_t before = clock_.now_ns();
    cudaError_t status = cudaEventRecord(tried_, stream_);
    if (status == cudaSuccess) status = cudaEventSynchronize(tried_);
    if (status != cudaSuccess) return status;
    const int64_t after = clock_.now_ns();
    if (after - before >= end_ns - begin_ns) continue;
    begin_ns = before;
    end_ns = after;
    std::swap(tried_, next_);
  }
  int64_t time = begin_ns + (end_ns - begin_ns) / 2;
  if (base_ != nullptr) {
    int64_t distance = 0;
    const cudaError_t status = distance_ns(base_, next_, distance);
    if (status != cudaSuccess) return status;
    time = std::clamp(base_ns_ + distance, begin_ns, end_ns);
  } else if (const auto status = cudaEventCreate(&base_); status != cudaSuccess) {
    return status;
  }
  std::swap(base_, next_);
  base_ns_ = time;
  uncertainty_ns_ = end_ns - begin_ns;
  return cudaSuccess;
}

cudaError_t EventClock::time_ns(cudaEvent_t event, int64_t& time) {
  int64_t distance = 0;
  cudaError_t status = distance_ns(base_, event, distance);
  if (status == cudaSuccess && distance > kRenewAfterNs) {
    status = renew(kTriesLater);
    if (status == cudaSuccess) status = distance_ns(base_, event, distance);
  }
  time = base_ns_ + distance;
  return status;
}

}  // namespace hostir::cuda
