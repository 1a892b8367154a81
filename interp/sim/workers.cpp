#include "interp/sim/workers.h"

#include <algorithm>

namespace hostir::sim {

Workers::Workers(int threads) {
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
  start_.notify_all();
}

// Takes one part of the current loop; false when none is left.
bool Workers::run_one() {
  int64_t begin = 0;
  int64_t end = 0;
  const std::function<void(int64_t, int64_t)>* body = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (body_ == nullptr || next_ >= end_) return false;
    begin = next_;
    end = next_ = std::min(end_, next_ + step_);
    body = body_;
    ++active_;
  }
  (*body)(begin, end);
  const std::lock_guard lock(mutex_);
  if (--active_ == 0) done_.notify_all();
  return true;
}

void Workers::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!start_.wait(lock, stop, [this] { return body_ != nullptr && next_ < end_; })) return;
    }
    while (run_one()) {
    }
  }
}

void Workers::for_ranges(int64_t n, int64_t grain,
                         const std::function<void(int64_t, int64_t)>& body) {
  if (n <= 0) return;
  const int64_t grains = (n + grain - 1) / grain;
  if (threads_.empty() || grains < 2) return body(0, n);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    next_ = 0;
    end_ = n;
    step_ = std::max<int64_t>(1, grains / (count() * 4)) * grain;
  }
  start_.notify_all();
  while (run_one()) {
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return active_ == 0; });
  body_ = nullptr;
}

}  // namespace hostir::sim
