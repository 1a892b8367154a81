// Ranks in other processes and work in real time, simulated by the null backend.
#include <chrono>

#include "core_test.h"
#include "interp/core/forwarding_sink.h"

namespace hostir::interp::test {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

struct Played {
  std::shared_ptr<const Code> code;
  std::unique_ptr<NullBackend> backend;
  std::unique_ptr<Interpreter> interpreter;
  RunEnd end = RunEnd::kFinished;
  int64_t took_ns = 0;

  std::string fault() const {
    const auto& faults = interpreter->faults();
    return faults.empty() ? "" : faults[0].record.kind + ": " + faults[0].record.sentence;
  }
};

std::unique_ptr<Played> play(const std::string& text, NullOptions options,
                             int64_t timeout_ns = 20'000 * kMillisecond,
                             TraceSink* sink = nullptr) {
  auto out = std::make_unique<Played>();
  out->code = compile(text);
  if (out->code == nullptr) return nullptr;
  out->backend = std::make_unique<NullBackend>(std::move(options));
  InterpreterOptions run_options;
  run_options.timeout_ns = timeout_ns;
  auto made = Interpreter::create(out->code, *out->backend, sink, run_options);
  EXPECT_TRUE(made);
  if (!made) return nullptr;
  out->interpreter = std::move(*made);
  const auto begin = std::chrono::steady_clock::now();
  out->end = out->interpreter->run();
  out->took_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return out;
}

// Three all_reduces on four ranks; the host waits for the last one.
std::string three_sums(const std::string& more = "") {
  return R"(
mesh @m = <x=4>
host @f on @m (inout %a: tensor<4xf32>) -> (%a: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "s"
  all_reduce sum %c rw(%a) on %s
  all_reduce sum %c rw(%a) on %s
  %e = all_reduce sum %c rw(%a) on %s
)" + more +
         R"(  wait %e on host
  return %a
}
)";
}

TEST(Remote, SlowWorkIsNoDeadlock) {
  NullOptions options;
  options.task_ns = 15 * kMillisecond;
  const auto run = play(three_sums(), options);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->end, RunEnd::kFinished) << run->fault();
  EXPECT_GE(run->took_ns, 3 * options.task_ns);
  // Times are measured: the sums run one after another, each for the configured time.
  EXPECT_GE(run->interpreter->rank(0).clock_ns, 3 * options.task_ns);
}

TEST(Remote, LateRanksOfAnotherProcessAreNoDeadlock) {
  NullOptions options;
  options.local_ranks = {0, 1};
  options.remote_ns = 15 * kMillisecond;
  const auto run = play(three_sums(), options);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->end, RunEnd::kFinished) << run->fault();
  EXPECT_GE(run->took_ns, 3 * options.remote_ns);
  EXPECT_EQ(run->interpreter->rank(1).status, RankStatus::kDone);
  EXPECT_EQ(run->interpreter->rank(2).status, RankStatus::kRemote);
  EXPECT_EQ(run->interpreter->rank(2).steps, 0u);
}

TEST(Remote, AnAbsentRankIsNamedWhenTheTimeIsOver) {
  NullOptions options;
  options.local_ranks = {0, 1};
  options.absent_ranks = {3};
  const int64_t timeout_ns = 100 * kMillisecond;
  const auto run = play(three_sums(), options, timeout_ns);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->end, RunEnd::kFault);
  EXPECT_GE(run->took_ns, timeout_ns);
  EXPECT_LE(run->took_ns, timeout_ns + 5'000 * kMillisecond);
  EXPECT_EQ(run->fault(),
            "timeout: nothing completed for 0.1 s: ranks 2, 3 never came to all_reduce sum f32[4] "
            "seq 0 on comm over {x}, in which ranks 0, 1 wait at @f#3; they did not report from "
            "another process");
  EXPECT_EQ(run->interpreter->faults()[0].kind, ErrorKind::kStuck);
}

// A job that hangs may be killed before the time is over. Its log then has the ranks' positions.
TEST(Remote, AStallIsLoggedBeforeTheTimeIsOver) {
  struct Positions final : ForwardingSink {
    using ForwardingSink::ForwardingSink;
    std::vector<RankStateRecord> states;
    size_t states_before_fault = 0;
    void rank_state(const RankStateRecord& record) override { states.push_back(record); }
    void fault(const FaultRecord&) override { states_before_fault = states.size(); }
  } sink(nullptr);
  NullOptions options;
  options.local_ranks = {0, 1};
  options.absent_ranks = {3};
  const auto run = play(three_sums(), options, 20 * kMillisecond, &sink);
  ASSERT_NE(run, nullptr);
  ASSERT_GE(sink.states_before_fault, 4U);
  EXPECT_EQ(sink.states[0].state, model::RankState::kBlocked);
  EXPECT_NE(sink.states[0].waits_for, kNoTask);
}

// All ranks involved are local and nothing is in flight, so the deadlock is found at once.
TEST(Remote, ADeadlockAmongLocalRanksDoesNotWaitForTheTime) {
  NullOptions options;
  options.local_ranks = {0, 1};
  options.task_ns = kMillisecond;
  const auto run = play(three_sums("  where coord(x) == 0 {\n    %f = all_reduce sum %c rw(%a) on "
                                   "%s\n    wait %f on host\n  }\n"),
                        options);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->end, RunEnd::kFault);
  EXPECT_TRUE(
      run->fault().starts_with("deadlock: rank 0 makes one call more than the others: all_reduce"))
      << run->fault();
  EXPECT_LT(run->took_ns, 10'000 * kMillisecond);
}

TEST(Remote, WhatTakesRealTimeCannotGoBack) {
  NullOptions options;
  options.task_ns = kMillisecond;
  EXPECT_EQ(NullBackend(options).checkpoints(), nullptr);
  EXPECT_NE(NullBackend().checkpoints(), nullptr);
}

}  // namespace
}  // namespace hostir::interp::test
