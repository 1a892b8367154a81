// The times in a log when few tasks record events, against when the device really ran them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/cuda/backend.h"
#include "tests/unit/device/timeline_device.h"

namespace hostir::cuda {
namespace {

/// A host for which every reading of the clock takes 200 ns, however busy the machine is.
class CountingClock final : public RunClock {
 public:
  int64_t now_ns() const override { return now_ns_ += 200; }

 private:
  mutable int64_t now_ns_ = 0;
};

/// The launches' records in order of issue.
class Launches final : public interp::TraceSink {
 public:
  explicit Launches(const interp::Code& code) : code_(code) {}
  void issued(const interp::IssuedRecord& issue) override {
    const auto kind = code_.instructions[issue.code].kind;
    if (hostir::record(kind).role == HostRole::kLaunch) order.push_back(issue.task);
  }
  void finished(const interp::FinishedRecord& record) override { tasks[record.task] = record; }
  void value(const interp::ValueSummary&) override {}
  void decision(const interp::DecisionRecord&) override {}
  void fault(const interp::FaultRecord& record) override { faults += record.sentence; }
  void loop_path(interp::LoopPathId, interp::LoopPathId, interp::CodeIndex, int64_t) override {}

  std::vector<interp::TaskId> order;
  std::map<interp::TaskId, interp::FinishedRecord> tasks;
  std::string faults;

 private:
  const interp::Code& code_;
};

std::string program_text(const std::string& body, int iterations) {
  const std::string kernel = R"((%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = add %a, %a
  return %b
}
)";
  return "mesh @m = <r=1>\nkernel @short" + kernel + "kernel @long" + kernel + R"(
host @f on @m (%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %s = stream "s"
  %o = stream "o"
  %t = alloc on %s : tensor<4xf32>
  %y = alloc on %s : tensor<4xf32>
  %a = alloc on %o : tensor<4xf32>
  for %i in 0..)" +
         std::to_string(iterations) + " {\n" + body + R"(
  }
  free %t on %s
  free %a on %o
  return %y
}
)";
}
constexpr const char* kTwo = R"(    launch @short ro(%x) wo(%t) on %s
    launch @long ro(%t) wo(%y) on %s)";

struct Logged {
  Timeline line;
  std::vector<interp::FinishedRecord> launches;  // in order of issue
  std::string times;                             // the log's property
  std::string faults;                            // sentences
};

Logged run_on(Timeline line, const std::string& text, const BackendOptions& options) {
  Logged out;
  out.line = std::move(line);
  auto program = text::parse_program(text);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return out;
  auto code = interp::compile_code(std::make_shared<const Program>(std::move(*program)), {});
  EXPECT_TRUE(code) << code.error().message();
  if (!code) return out;
  const auto backend = make_device_backend(
      options,
      [&](const RunClock& clock) {
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<TimelineDevice>(clock, out.line));
        return devices;
      },
      std::make_unique<CountingClock>());
  Launches sink(**code);
  auto interpreter = interp::Interpreter::create(*code, *backend, &sink, {});
  EXPECT_TRUE(interpreter && (*interpreter)->bind(0, Tensor::zeros(DType::kF32, {4})));
  if (!interpreter) return out;
  const bool fails = out.line.failing_launch > 0;
  EXPECT_EQ((*interpreter)->run(), fails ? interp::RunEnd::kFault : interp::RunEnd::kFinished);
  EXPECT_EQ(sink.faults.empty(), !fails) << sink.faults;
  out.faults = sink.faults;
  for (const interp::TaskId task : sink.order) out.launches.push_back(sink.tasks[task]);
  for (const auto& [name, value] : backend->properties()) {
    if (name == "times") out.times = value;
  }
  return out;
}

int64_t median(std::vector<int64_t> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// The median duration of launches `first`, `first + step`, ...
int64_t median_duration(const Logged& logged, size_t first, size_t step) {
  std::vector<int64_t> durations;
  for (size_t i = first; i < logged.launches.size(); i += step) {
    durations.push_back(logged.launches[i].finished_ns - logged.launches[i].started_ns);
  }
  return median(std::move(durations));
}

/// The median distance of the logged end of a launch from its real end.
int64_t median_error(const Logged& logged) {
  std::vector<int64_t> errors;
  for (size_t i = 0; i < logged.launches.size(); ++i) {
    errors.push_back(std::abs(logged.launches[i].finished_ns - logged.line.runs[i].end_ns));
  }
  return median(std::move(errors));
}

void expect_ordered(const Logged& logged) {
  ASSERT_EQ(logged.launches.size(), logged.line.runs.size());
  int64_t end_ns = 0;
  for (const interp::FinishedRecord& launch : logged.launches) {
    EXPECT_LE(end_ns, launch.started_ns);
    EXPECT_LE(launch.queued_ns, launch.started_ns);
    EXPECT_LE(launch.started_ns, launch.finished_ns);
    end_ns = launch.finished_ns;
  }
}

/// The logged ends of launches `first`, `first + step`, ... are the real ones.
void expect_exact_ends(const Logged& logged, size_t first, size_t step) {
  ASSERT_EQ(logged.launches.size(), logged.line.runs.size());
  for (size_t i = first; i < logged.launches.size(); i += step) {
    EXPECT_EQ(logged.launches[i].finished_ns, logged.line.runs[i].end_ns) << i;
  }
}

Timeline two_kernels() {
  Timeline line;
  line.kernel_ns = {{"short", 20'000}, {"long", 60'000}};
  return line;
}

TEST(SampledTimes, DivideTheTimeBetweenEvents) {
  const Logged logged = run_on(two_kernels(), program_text(kTwo, 2000), {});
  ASSERT_EQ(logged.launches.size(), 4000);
  expect_ordered(logged);
  EXPECT_NEAR(static_cast<double>(median_duration(logged, 0, 2)), 20'000, 5'000);
  EXPECT_NEAR(static_cast<double>(median_duration(logged, 1, 2)), 60'000, 5'000);
  EXPECT_LT(median_error(logged), 10'000);
  // One event per five passes (400 us) instead of one per launch, and those of the first launches.
  EXPECT_LT(logged.line.events, 2000);
  EXPECT_NE(logged.times.find("divide the time between two events"), std::string::npos)
      << logged.times;
}

TEST(SampledTimes, AreExactForLongKernels) {
  Timeline line;
  line.kernel_ns = {{"short", 450'000}, {"long", 900'000}};
  const Logged logged = run_on(line, program_text(kTwo, 100), {});
  expect_ordered(logged);
  expect_exact_ends(logged, 40, 1);
}

TEST(SampledTimes, CountWhatTheHostWaitsFor) {
  const Logged logged = run_on(two_kernels(),
                               program_text(R"(    launch @short ro(%x) wo(%t) on %s
    %e = launch @long ro(%t) wo(%y) on %s
    wait %e on host)",
                                            200),
                               {});
  expect_ordered(logged);
  expect_exact_ends(logged, 1, 2);
}

// Tasks before a wait for another stream do not last until the awaited task ends.
TEST(SampledTimes, LeaveOutWaitsForOtherStreams) {
  Timeline line;
  line.kernel_ns = {{"short", 20'000}, {"long", 600'000}};
  const Logged logged = run_on(line,
                               program_text(R"(    launch @short ro(%x) wo(%t) on %s
    %e = launch @long ro(%x) wo(%a) on %o
    wait %e on %s
    launch @short ro(%t) wo(%y) on %s)",
                                            100),
                               {});
  ASSERT_EQ(logged.launches.size(), 300);
  EXPECT_NEAR(static_cast<double>(median_duration(logged, 0, 3)), 20'000, 10'000);
  EXPECT_NEAR(static_cast<double>(median_duration(logged, 2, 3)), 20'000, 10'000);
}

TEST(SampledTimes, AreSharedWithinAGraph) {
  BackendOptions options;
  options.graphs = true;
  const Logged logged = run_on(two_kernels(), program_text(kTwo, 2000), options);
  ASSERT_EQ(logged.launches.size(), 4000);
  // The launches of a graph end with it.
  EXPECT_EQ(logged.launches[1000].finished_ns, logged.launches[1001].finished_ns);
  EXPECT_NEAR(static_cast<double>(median_duration(logged, 0, 2)), 80'000, 10'000);
  EXPECT_LT(logged.line.events, 1500);
}

TEST(SampledTimes, CanBeSwitchedOff) {
  BackendOptions options;
  options.sampled_times = false;
  const Logged logged = run_on(two_kernels(), program_text(kTwo, 100), options);
  expect_ordered(logged);
  expect_exact_ends(logged, 0, 1);
}

TEST(FailedKernels, AreAmongTheTasksInFlight) {
  Timeline line = two_kernels();
  line.failing_launch = 21;  // an @short
  const std::string text = program_text(kTwo, 100);
  const Logged far_ahead = run_on(line, text, {});
  EXPECT_NE(far_ahead.faults.find("a kernel failed; the device does not say which of its "),
            std::string::npos)
      << far_ahead.faults;
  const auto finished = std::count_if(far_ahead.launches.begin(), far_ahead.launches.end(),
                                      [](const auto& launch) { return launch.finished_ns > 0; });
  EXPECT_LE(finished, 20);
  BackendOptions options;
  options.stepwise = true;
  const Logged stepped = run_on(line, text, options);
  EXPECT_NE(stepped.faults.find("rank 0: @f#7 launch: a kernel failed"), std::string::npos)
      << stepped.faults;
  EXPECT_EQ(stepped.faults.find("in flight"), std::string::npos) << stepped.faults;
}

}  // namespace
}  // namespace hostir::cuda
