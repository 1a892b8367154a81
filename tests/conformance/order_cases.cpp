// Streams and events; the order of stepping changes no results. The guard (watched_backend.h)
// checks what must hold at every completion.
#include <random>

#include "cases.h"
#include "programs.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

std::vector<Tensor> busy_inputs() {
  return {tensor("7xf32=[1 2 3 4 5 6 7]"), tensor("2xf32=[1 3]")};
}

// Steps any rank at any time; one step in four repeats the previous rank.
void step_randomly(Trial& trial, unsigned seed) {
  std::mt19937 random(seed);
  interp::Interpreter& run = *trial.interpreter;
  const auto ranks = static_cast<unsigned>(trial.code->rank_count);
  Rank focus = 0;
  for (int idle = 0; !run.finished() && idle < 1000;) {
    if (random() % 4 != 0) focus = static_cast<Rank>(random() % ranks);
    const auto step = run.step(focus);
    ASSERT_TRUE(step);
    idle = step->outcome == interp::StepResult::Outcome::kExecuted ? 0 : idle + 1;
  }
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(trial.fault(), "");
  EXPECT_EQ(trial.backend->in_flight(), 0u);
}

using Times = std::map<interp::TaskId, std::tuple<int64_t, int64_t, int64_t>>;
Times times(const Trial& trial) {
  Times out;
  for (const auto& [id, record] : trial.recorder.tasks) {
    out[id] = {record.queued_ns, record.started_ns, record.finished_ns};
  }
  return out;
}

void check_any_order(const BackendUnderTest& backend) {
  const auto straight = run(backend, kBusy, busy_inputs());
  ASSERT_NE(straight, nullptr);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const auto trial = start(backend, kBusy, busy_inputs());
    ASSERT_NE(trial, nullptr);
    step_randomly(*trial, seed);
    EXPECT_EQ(trial->recorder.tasks.size(), straight->recorder.tasks.size());
    for (Rank rank = 0; rank < 4; ++rank) {
      for (const size_t index : {size_t{0}, size_t{1}}) {
        EXPECT_EQ(trial->result(rank, index), straight->result(rank, index)) << "seed " << seed;
      }
    }
    if (trial->backend->capabilities().clock == interp::ClockDomain::kVirtual) {
      for (const auto& [id, record] : trial->recorder.tasks) {
        EXPECT_GE(record.started_ns, record.queued_ns);
      }
    }
  }
}

// Computed times depend only on the program.
void check_times(const BackendUnderTest& backend) {
  const auto straight = run(backend, kBusy, busy_inputs());
  ASSERT_NE(straight, nullptr);
  const auto again = run(backend, kBusy, busy_inputs());
  ASSERT_NE(again, nullptr);
  if (straight->backend->capabilities().clock != interp::ClockDomain::kVirtual) return;
  EXPECT_EQ(times(*again), times(*straight));
}

void check_busy_values(const BackendUnderTest& backend) {
  const auto trial = run(backend, kBusy, busy_inputs());
  ASSERT_NE(trial, nullptr);
  const auto x = trial->interpreter->global_result(0);
  ASSERT_TRUE(x);
  EXPECT_EQ(*x, tensor("7xf32=[32 64 96 128 160 192 224]"));
  EXPECT_EQ(trial->result(3, 1), tensor("2xf32=[1024 3072]"));
}

// A task on the second stream waits for the first stream's long queue; without the wait it would
// race.
constexpr const char* kWait = R"(mesh @m = <r=1>
kernel @twice(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (inout %x: tensor<4xf32>, inout %y: tensor<4xf32>) -> (%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %s = stream "first"
  %t = stream "second"
  launch @twice rw(%x) on %s
  launch @twice rw(%x) on %s
  %e = launch @twice rw(%x) on %s
  wait %e on %t
  wait none on %t
  wait %e on %t
  %f = launch @twice ro(%x) wo(%y) on %t
  wait %f on %s
  launch @twice rw(%x) on %s
  return %x, %y
}
)";

void check_wait_times(const BackendUnderTest& backend) {
  const auto trial = run(backend, kWait, {tensor("4xf32=1"), tensor("4xf32=1")});
  ASSERT_NE(trial, nullptr);
  const auto& tasks = trial->recorder.tasks;
  const auto at = [&](uint64_t n) {
    const auto found = tasks.find(interp::make_task_id(0, n));
    EXPECT_NE(found, tasks.end()) << n;
    return found == tasks.end() ? interp::FinishedRecord{} : found->second;
  };
  ASSERT_EQ(tasks.size(), 5u);
  EXPECT_GE(at(3).started_ns, at(2).finished_ns);
  EXPECT_GE(at(4).started_ns, at(3).finished_ns);
}

void check_wait_values(const BackendUnderTest& backend) {
  const auto trial = run(backend, kWait, {tensor("4xf32=1"), tensor("4xf32=1")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0, 0), tensor("4xf32=16"));
  EXPECT_EQ(trial->result(0, 1), tensor("4xf32=16"));
}

// One rank never starts. The others wait, and the backend shows that by completing nothing.
void check_missing_rank(const BackendUnderTest& backend) {
  interp::InterpreterOptions options;
  options.ranks = {0, 1, 3};
  const auto trial = start(backend, kBusy, busy_inputs(), options);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->interpreter->run(), RunEnd::kFault);
  EXPECT_EQ(trial->fault().substr(0, 8), "deadlock");
  EXPECT_GT(trial->backend->in_flight(), 0u);
}

// A use after free is detected before the backend sees it.
constexpr const char* kFreed = R"(mesh @m = <r=1>
kernel @twice(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %s = stream "main"
  %y = alloc on %s : tensor<4xf32>
  %t = alloc on %s : tensor<4xf32>
  free %t on %s
  launch @twice ro(%t) wo(%y) on %s
  return %y
}
)";

void check_freed(const BackendUnderTest& backend) {
  expect_fault(backend, kFreed, {tensor("4xf32=1")}, "use_after_free");
}

void check_memory_limit(const BackendUnderTest& backend) {
  interp::InterpreterOptions options;
  options.max_memory_bytes = 40;  // the parameter and one more buffer
  expect_fault(backend, kFreed, {tensor("4xf32=1")}, "max_memory", options);
}

}  // namespace

void add_order_cases(CaseList& cases) {
  cases.push_back({"order_of_stepping_changes_nothing", check_any_order});
  cases.push_back({"order_virtual_times_are_repeated", check_times});
  cases.push_back({"order_waits_of_streams", check_wait_times});
  cases.push_back({"values_after_waits_of_streams", check_wait_values});
  cases.push_back({"values_of_two_streams_and_a_loop", check_busy_values});
  cases.push_back({"order_missing_rank_is_a_deadlock", check_missing_rank});
  cases.push_back({"order_use_after_free", check_freed});
  cases.push_back({"order_memory_limit", check_memory_limit});
}

}  // namespace hostir::conformance
