// Event times on a GPU stay on the host's clock in a run that lasts long.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "interp/cuda/device.h"

namespace hostir::cuda {
namespace {

TEST(EventClock, KeepsTheTimeOfTheHost) {
  const RunClock clock;
  const auto devices = open_cuda_devices({}, clock, {});
  if (!devices) GTEST_SKIP() << devices.error().message();
  Device& device = *devices->front();
  const StreamHandle stream = device.make_stream();
  const EventHandle event = device.take_event();
  for (int i = 0; i < 6; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const int64_t before = clock.now_ns();
    device.record(event, stream);
    device.synchronize();
    const int64_t after = clock.now_ns();
    const int64_t time = device.time_ns(event);
    constexpr int64_t kErrorNs = 20'000;  // of relating the clocks
    EXPECT_GE(time, before - kErrorNs) << i;
    EXPECT_LE(time, after + kErrorNs) << i;
  }
  device.give_back(event);
}

}  // namespace
}  // namespace hostir::cuda
