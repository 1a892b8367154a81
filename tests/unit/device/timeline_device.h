// A device without memory or arithmetic that only keeps time: kernels and events take as long as
// the test says, on streams that run beside the host. For tests of times, and for counting the
// backend's calls of a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interp/cuda/device.h"

namespace hostir::cuda {

/// Calls of a device, and when its kernels really ran.
struct Timeline {
  struct Run {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
  };
  std::map<std::string, int64_t> kernel_ns;  // by name; 0 for others
  int64_t event_ns = 0;                      // what an event costs the stream
  std::vector<Run> runs;                     // of kernels, in order of launch
  bool keeps_runs = true;
  int64_t failing_launch = 0;  // the device fails during it, the first is 1; 0: never
  int64_t memory_bytes = int64_t{1} << 40;
  int64_t allocations = 0;
  int64_t launches = 0;
  int64_t events = 0;   // recorded
  int64_t queries = 0;  // has_happened()
  int64_t times = 0;    // time_ns()
};

class TimelineDevice final : public Device {
 public:
  TimelineDevice(const RunClock& clock, Timeline& line) : clock_(clock), line_(line) {}

  int index() const override { return 0; }
  std::string name() const override { return "timeline"; }
  std::string identity() const override { return "timeline"; }
  int64_t memory_bytes() const override { return line_.memory_bytes; }

  StreamHandle make_stream() override {
    return streams_.emplace_back(std::make_unique<int64_t>(0)).get();
  }
  EventHandle take_event() override {
    if (free_.empty()) free_.push_back(events_.emplace_back(std::make_unique<int64_t>(0)).get());
    int64_t* const event = free_.back();
    free_.pop_back();
    return event;
  }
  void give_back(EventHandle event) override { free_.push_back(static_cast<int64_t*>(event)); }
  void record(EventHandle event, StreamHandle stream) override {
    ++line_.events;
    *static_cast<int64_t*>(event) = occupy(stream, line_.event_ns).end_ns;
  }
  void wait(StreamHandle stream, EventHandle event) override {
    int64_t& busy = *static_cast<int64_t*>(stream);
    busy = std::max(busy, *static_cast<int64_t*>(event));
  }
  bool has_happened(EventHandle event) override {
    ++line_.queries;
    if (failure() != nullptr) return false;
    return clock_.now_ns() >= *static_cast<int64_t*>(event);
  }
  int64_t time_ns(EventHandle event) override {
    ++line_.times;
    return *static_cast<int64_t*>(event);
  }

  // Never read or written.
  void* allocate(int64_t bytes, StreamHandle) override {
    ++line_.allocations;
    next_address_ += static_cast<uintptr_t>(bytes + 255) / 256 * 256;
    return reinterpret_cast<void*>(next_address_);
  }
  void release(void*, StreamHandle) override {}
  void upload(void*, const std::byte*, int64_t) override {}
  void download(std::byte* to, const void*, int64_t bytes) override {
    std::fill_n(to, bytes, std::byte{0});
  }
  void synchronize() override {
    for (const auto& stream : streams_) {
      while (clock_.now_ns() < *stream) {
      }
    }
  }
  void move(std::span<const Move>, StreamHandle) override {}
  void fold(const Fold&, StreamHandle) override {}
  bool reach(Device&) override { return true; }
  void pull(void*, const void*, int64_t, StreamHandle) override {}
  void copy(const StridedCopy&, StreamHandle) override {}
  void delay(int64_t ns, StreamHandle stream) override { occupy(stream, ns); }

  void begin_capture(StreamHandle) override { captured_ = std::make_unique<Graph>(*this); }
  Expected<std::unique_ptr<DeviceGraph>> end_capture(StreamHandle) override {
    return std::move(captured_);
  }
  Expected<std::shared_ptr<const DeviceKernel>> compile(
      const kernels::BoundKernel& kernel) override {
    const auto found = line_.kernel_ns.find(kernel.function->name);
    return std::make_shared<const Kernel>(*this,
                                          found == line_.kernel_ns.end() ? 0 : found->second);
  }
  // Like a GPU, it does not say which kernel failed, and its events are lost.
  const Error* failure() override { return clock_.now_ns() < fails_at_ns_ ? nullptr : &error_; }
  std::vector<std::pair<std::string, std::string>> properties() const override { return {}; }

 private:
  class Kernel final : public DeviceKernel {
   public:
    Kernel(TimelineDevice& device, int64_t ns) : device_(device), ns_(ns) {}
    void launch(StreamHandle stream, std::span<const void* const>, std::span<void* const>,
                void*) const override {
      device_.launch(stream, ns_);
    }
    int64_t scratch_bytes() const override { return 0; }
    std::string description() const override { return "none"; }

   private:
    TimelineDevice& device_;
    int64_t ns_;
  };
  class Graph final : public DeviceGraph {
   public:
    explicit Graph(TimelineDevice& device) : device_(device) {}
    void launch(StreamHandle stream) const override {
      for (const int64_t ns : kernels_ns) device_.launch(stream, ns);
    }
    std::vector<int64_t> kernels_ns;

   private:
    TimelineDevice& device_;
  };

  Timeline::Run occupy(StreamHandle stream, int64_t ns) {
    int64_t& busy = *static_cast<int64_t*>(stream);
    const int64_t begin = std::max(busy, clock_.now_ns());
    busy = begin + ns;
    return {begin, busy};
  }
  void launch(StreamHandle stream, int64_t ns) {
    if (captured_ != nullptr) {
      captured_->kernels_ns.push_back(ns);
      return;
    }
    ++line_.launches;
    const Timeline::Run run = occupy(stream, ns);
    if (line_.launches == line_.failing_launch) fails_at_ns_ = run.begin_ns;
    if (line_.keeps_runs) line_.runs.push_back(run);
  }

  const RunClock& clock_;
  Timeline& line_;
  std::vector<std::unique_ptr<int64_t>> streams_;  // busy until
  std::vector<std::unique_ptr<int64_t>> events_;   // when they happen
  std::vector<int64_t*> free_;
  std::unique_ptr<Graph> captured_;
  uintptr_t next_address_ = 1 << 20;
  int64_t fails_at_ns_ = INT64_MAX;
  const Error error_ = fail(ErrorKind::kRuntime, "cuda_runtime", "a kernel failed").value();
};

}  // namespace hostir::cuda
