// A thread that launches one device's graphs, so that the backend's thread can go on.
//
// cudaGraphLaunch takes 3 to 6 us of its caller. A process that drives several devices would spend
// that once per device and iteration, which is longer than a short collective takes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace hostir::cuda {

/// One thread adds launches, this one makes them in order.
class LaunchThread {
 public:
  using Launch = std::function<void(void* graph, void* stream)>;

  explicit LaunchThread(Launch launch) : launch_(std::move(launch)), thread_([this] { run(); }) {}
  /// Makes all launches that were added.
  ~LaunchThread();
  LaunchThread(const LaunchThread&) = delete;
  LaunchThread& operator=(const LaunchThread&) = delete;

  /// Returns at once unless kDepth launches are waiting. `graph` is not null.
  void add(void* graph, void* stream) { push({graph, stream}); }
  /// Returns when all launches that were added have been made.
  void finish() const;

 private:
  // Deep enough to keep the thread busy, short enough that finish() takes little.
  static constexpr uint64_t kDepth = 16;

  struct Entry {
    void* graph = nullptr;  // null: the end
    void* stream = nullptr;
  };

  void push(const Entry& entry);
  void run();
  void wait_until_made(uint64_t count) const;

  Launch launch_;
  std::array<Entry, kDepth> ring_;
  alignas(64) std::atomic<uint64_t> added_ = 0;
  alignas(64) std::atomic<uint64_t> made_ = 0;
  std::jthread thread_;
};

}  // namespace hostir::cuda
