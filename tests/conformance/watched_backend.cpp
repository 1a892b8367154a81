#include "watched_backend.h"

#include <gtest/gtest.h>

#include <tuple>

namespace hostir::conformance {

using interp::Completion;

// Sits between the backend and the receiver of completions.
class WatchedBackend::Guard final : public interp::CompletionSink {
 public:
  Guard(WatchedBackend& watched, interp::CompletionSink& sink) : watched_(watched), sink_(sink) {}

  void completed(const Completion& completion) override {
    ++delivered;
    check(completion);
    watched_.in_flight_.erase(completion.id);
    sink_.completed(completion);
  }
  void value(const interp::ValueSummary& summary) override { sink_.value(summary); }
  void failed(interp::TaskId task, const Error& why) override {
    ++delivered;
    sink_.failed(task, why);
  }

  int64_t delivered = 0;

 private:
  void check(const Completion& completion) {
    const std::tuple now(completion.finished_ns, interp::task_rank(completion.id), completion.id);
    if (delivered > 1) {
      EXPECT_GT(now, last_) << "one poll delivers out of order";
    }
    last_ = now;
    EXPECT_LE(completion.queued_ns, completion.started_ns);
    EXPECT_LE(completion.started_ns, completion.finished_ns);
    const auto at = watched_.in_flight_.find(completion.id);
    if (at == watched_.in_flight_.end()) {
      EXPECT_TRUE(watched_.restored_) << "task " << completion.id << " completes, but is not there";
      return;
    }
    EXPECT_GE(completion.started_ns, at->second.issued_ns) << "starts before it is issued";
    for (const auto& [id, other] : watched_.in_flight_) {
      if (interp::task_rank(id) != interp::task_rank(completion.id)) continue;
      if (id < completion.id) {
        EXPECT_NE(other.stream, at->second.stream) << "overtakes a task of its stream";
      }
      for (const interp::TaskId before : at->second.waits_for) {
        EXPECT_NE(before, id) << "completes before what it waits for";
      }
    }
  }

  WatchedBackend& watched_;
  interp::CompletionSink& sink_;
  std::tuple<int64_t, interp::Rank, interp::TaskId> last_{};
};

const Error* WatchedBackend::issue(std::span<const interp::Task> tasks) {
  const Error* refused = inner_->issue(tasks);
  if (refused != nullptr) return refused;
  for (const interp::Task& task : tasks) {
    in_flight_[task.id] = {
        task.stream, task.issued_ns, {task.waits_for.begin(), task.waits_for.end()}};
  }
  return nullptr;
}

interp::Progress WatchedBackend::poll(const interp::Hosts& hosts, interp::CompletionSink& sink) {
  Guard guard(*this, sink);
  const interp::Progress found = inner_->poll(hosts, guard);
  EXPECT_EQ(found == interp::Progress::kProgressed, guard.delivered > 0)
      << "poll() says whether it delivered anything";
  return found;
}

interp::Progress WatchedBackend::wait(const interp::Hosts& hosts, interp::CompletionSink& sink,
                                      int64_t timeout_ns) {
  Guard guard(*this, sink);
  const interp::Progress found = inner_->wait(hosts, guard, timeout_ns);
  EXPECT_EQ(found == interp::Progress::kProgressed, guard.delivered > 0)
      << "wait() says whether it delivered anything";
  return found;
}

Expected<void> WatchedBackend::restore(const interp::BackendCheckpoint& checkpoint) {
  in_flight_.clear();
  restored_ = true;
  return inner_->checkpoints()->restore(checkpoint);
}

}  // namespace hostir::conformance
