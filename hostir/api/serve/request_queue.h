// A queue of requests that one thread reads and another handles, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace hostir::api {

template <class Request>
class RequestQueue {
 public:
  void push(Request request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    changed_.notify_one();
  }
  /// No more requests come.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  /// Waits for the next request; nullopt at the end.
  std::optional<Request> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !requests_.empty(); });
    if (requests_.empty()) return std::nullopt;
    Request request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool ended_ = false;
};

}  // namespace hostir::api
