// The pool runs every piece of every job once, with fewer and more pieces than threads.
#include "kernels/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {
namespace {

class ThreadPool : public testing::TestWithParam<int> {
 protected:
  ThreadPool() : before_(thread_count()) { set_thread_count(GetParam()); }
  ~ThreadPool() override { set_thread_count(before_); }

 private:
  int before_;
};

TEST_P(ThreadPool, RunsEveryPieceOnce) {
  std::mt19937 random(1);
  for (int job = 0; job < 3000; ++job) {
    std::vector<std::atomic<int>> runs(random() % 12);
    parallel_for(static_cast<int64_t>(runs.size()),
                 [&](int64_t piece) { ++runs[static_cast<size_t>(piece)]; });
    for (const auto& count : runs) ASSERT_EQ(count, 1) << "job " << job;
    // Long enough for the workers to fall asleep.
    if (job % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Each piece waits for all others, so it ends only if as many threads as pieces take part.
TEST_P(ThreadPool, GivesEveryPieceAThread) {
  for (int job = 0; job < 50; ++job) {
    std::atomic<int> started = 0;
    parallel_for(GetParam(), [&](int64_t) {
      ++started;
      while (started < GetParam()) std::this_thread::yield();
    });
    ASSERT_EQ(started, GetParam());
    if (job % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPool, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace hostir::cpu
