// A few threads that split loops over memory.
//
// `for_ranges` cuts [0, n) into contiguous ranges and returns when all are done; the calling thread
// works too. Results must not depend on the cut. Threads sleep between calls. Owner: one backend.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hostir::sim {

class Workers {
 public:
  /// `threads` counts the caller: 1 makes no thread at all.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }
  /// Calls `body(begin, end)` for parts of [0, n) of at least `grain` elements (one call if n is
  /// small), boundaries at multiples of `grain`.
  void for_ranges(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

 private:
  void work(const std::stop_token& stop);
  bool run_one();

  std::mutex mutex_;
  std::condition_variable_any start_;
  std::condition_variable done_;
  const std::function<void(int64_t, int64_t)>* body_ = nullptr;
  int64_t next_ = 0;
  int64_t end_ = 0;
  int64_t step_ = 0;
  int active_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace hostir::sim
