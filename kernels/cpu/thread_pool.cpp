#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "hostir/support/usable_cores.h"

namespace hostir::cpu {
namespace {

struct Job {
  void (*f)(void*, int64_t) = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t seats = 0;  // of workers that may still join; guarded by the pool's mutex
  std::atomic<int64_t> next{0};

  void work() {
    for (int64_t i = next++; i < count; i = next++) f(context, i);
  }
};

class Pool {
 public:
  ~Pool() { resize(1); }

  void resize(int threads) {
    const std::lock_guard<std::mutex> owner(owner_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    workers_.clear();  // joins
    stopping_ = false;
    threads_ = std::max(threads, 1);
  }

  int threads() const { return threads_; }

  void run(Job& job) {
    const std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner.owns_lock() || threads_ == 1 || job.count <= 1) return job.work();
    start_workers();
    int64_t wanted = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      // A worker without a piece would only take a core from those that have one.
      const auto workers = static_cast<int64_t>(workers_.size());
      job.seats = std::min(workers, job.count - 1);
      wanted = job.seats - (workers - asleep_);  // the others are about to look for a job
      job_ = &job;
      ++epoch_;
    }
    for (; wanted > 0; --wanted) wake_.notify_one();
    job.work();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = nullptr;  // workers that have not started it stay asleep
    }
    // The other threads end at about the same time: spin before sleeping.
    spin_while([this] { return active_ != 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return active_ == 0; });
  }

 private:
  /// Workers start with the first job that needs them, not with the process.
  void start_workers() {
    while (static_cast<int>(workers_.size()) < threads_ - 1) {
      workers_.emplace_back([this] { serve(); });
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    uint64_t seen = 0;
    while (true) {
      lock.unlock();
      spin_while([&] { return epoch_ == seen; });
      lock.lock();
      ++asleep_;
      wake_.wait(lock, [&] {
        return stopping_ || (job_ != nullptr && epoch_ != seen && job_->seats > 0);
      });
      --asleep_;
      if (stopping_) return;
      seen = epoch_;
      Job* job = job_;
      --job->seats;
      ++active_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--active_ == 0) idle_.notify_one();
    }
  }

  /// Kernels follow each other closely, and waking a thread takes as long as a small one: spin for
  /// some tens of microseconds before sleeping.
  template <class Condition>
  static void spin_while(Condition holds) {
    for (int i = 0; i < 1000 && holds(); ++i) __builtin_ia32_pause();
  }

  std::mutex owner_;  // held by the thread whose job is in the pool
  std::mutex mutex_;  // guards changes of the members below
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* job_ = nullptr;
  std::atomic<uint64_t> epoch_{0};
  int64_t asleep_ = 0;          // workers that wait for `wake_`
  std::atomic<int> active_{0};  // workers in the job
  bool stopping_ = false;
  std::atomic<int> threads_{usable_cores()};
  std::vector<std::jthread> workers_;
};

Pool& pool() {
  static Pool instance;
  return instance;
}

}  // namespace

void parallel_pieces(int64_t count, void (*f)(void*, int64_t), void* context) {
  Job job;
  job.f = f;
  job.context = context;
  job.count = count;
  if (count == 1) return job.work();
  pool().run(job);
}

void set_thread_count(int threads) { pool().resize(threads); }
int thread_count() { return pool().threads(); }

}  // namespace hostir::cpu
