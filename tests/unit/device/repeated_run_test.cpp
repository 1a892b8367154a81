// interp/session/prepare/repeated_run.h on a backend that keeps its kernels and memory.
#include "interp/session/prepare/repeated_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/device/device_programs.h"
#include "tests/unit/device/timeline_device.h"

namespace hostir::cuda {
namespace {

// Changes its parameter, frees one block and returns another.
const std::string kInPlace = R"(mesh @m = <r=2>
kernel @twice(%a: tensor<2xf32>) -> (%b: tensor<2xf32>) {
  %b = add %a, %a
  return %b
}
host @f on @m (inout %x: tensor<2xf32>) -> (%y: tensor<2xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %t = alloc on %s : tensor<2xf32>
  %y = alloc on %s : tensor<2xf32>
  launch @twice ro(%x) wo(%t) on %s
  launch @twice ro(%t) wo(%x) on %s
  launch @twice ro(%x) wo(%y) on %s
  free %t on %s
  all_reduce sum %c rw(%y) on %s
  return %y
})";

TEST(RepeatedRun, StartsEveryRunFromTheInputsOnOneBackend) {
  const auto prepared = prepare_text(kInPlace);
  ASSERT_NE(prepared, nullptr);
  int backends = 0;
  const auto repeated = interp::RepeatedRun::create(*prepared,
                                                    [&](const interp::BackendRequest& request) {
                                                      ++backends;
                                                      return device_or_sim(request);
                                                    },
                                                    {});
  ASSERT_TRUE(repeated) << repeated.error().message();
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE((*repeated)->run());
    EXPECT_TRUE((*repeated)->interpreter().faults().empty());
    const auto y = (*repeated)->interpreter().global_result(0);
    ASSERT_TRUE(y) << y.error().message();
    EXPECT_EQ(y->get_double(1), 16) << "run " << run;  // 1, times 8 on each of two ranks
  }
  EXPECT_EQ(backends, 1);
}

TEST(RepeatedRun, TakesNoMoreMemoryThanTheFirst) {
  const auto prepared = prepare_text(kInPlace);
  ASSERT_NE(prepared, nullptr);
  Timeline line;
  const auto repeated =
      interp::RepeatedRun::create(*prepared,
                                  [&](const interp::BackendRequest&) {
                                    return make_device_backend({}, [&](const RunClock& clock) {
                                      std::vector<std::unique_ptr<Device>> out;
                                      out.push_back(std::make_unique<TimelineDevice>(clock, line));
                                      return out;
                                    });
                                  },
                                  {});
  ASSERT_TRUE(repeated) << repeated.error().message();
  ASSERT_TRUE((*repeated)->run());
  const int64_t first = line.allocations;
  for (int run = 0; run < 3; ++run) ASSERT_TRUE((*repeated)->run());
  EXPECT_EQ(line.allocations, first);
}

}  // namespace
}  // namespace hostir::cuda
