#include "interp/cuda/launch_thread.h"

namespace hostir::cuda {

LaunchThread::~LaunchThread() {
  push({});
  thread_.join();
}

void LaunchThread::push(const Entry& entry) {
  const uint64_t number = added_.load(std::memory_order_relaxed);
  if (number >= kDepth) wait_until_made(number - kDepth + 1);
  ring_[number % kDepth] = entry;
  added_.store(number + 1, std::memory_order_release);
  added_.notify_one();
}

void LaunchThread::finish() const { wait_until_made(added_.load(std::memory_order_relaxed)); }

void LaunchThread::wait_until_made(uint64_t count) const {
  constexpr int kSpins = 100;  // after these, the other thread may need this core
  for (int spins = 0; made_.load(std::memory_order_acquire) < count; ++spins) {
    if (spins >= kSpins) std::this_thread::yield();
  }
}

// Between the iterations of a loop the next launch comes within microseconds, and sleeping would
// delay it by more than that.
void LaunchThread::run() {
  constexpr int kSpins = 20'000;
  for (uint64_t number = 0;; ++number) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (added_.load(std::memory_order_acquire) > number) break;
    }
    added_.wait(number, std::memory_order_acquire);
    const Entry entry = ring_[number % kDepth];
    if (entry.graph != nullptr) launch_(entry.graph, entry.stream);
    made_.store(number + 1, std::memory_order_release);
    if (entry.graph == nullptr) return;
  }
}

}  // namespace hostir::cuda
