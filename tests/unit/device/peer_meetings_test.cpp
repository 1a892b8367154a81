// Ranks on several devices of one process meet by copies (peer_meetings.cpp).
#include <gtest/gtest.h>

#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

// A loop repeats its collectives with the same buffers, so the third iteration replays what the
// second captured. Rows do not divide evenly, and three devices do not either.
std::string looped(const std::string& collectives) {
  return R"(mesh @m = <r=5>
kernel @halve(%a: tensor<?Nx3xf32>) -> (%b: tensor<?Nx3xf32>) {
  %b = mul %a, 0.5
  return %b
}
host @f on @m (inout %x: shard<12x3xf32, @m, [{r}, {}]>) -> (%all: tensor<12x3xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %all = alloc on %s : tensor<12x3xf32>
  for %i in 0..6 {
)" + collectives +
         R"(  }
  return %all
}
)";
}

interp::RunResult run_on(const std::shared_ptr<const interp::Prepared>& prepared, bool on_devices,
                         Transport transport) {
  const auto factory = [&](const interp::BackendRequest& request) {
    if (!on_devices) return device_or_sim(request);
    BackendOptions options;
    options.devices = {0, 1, 2};
    options.transport = transport;
    return Expected<std::unique_ptr<interp::Backend>>(
        make_device_backend(options, [](const RunClock& clock) {
          std::vector<std::unique_ptr<Device>> devices;
          for (int d = 0; d < 3; ++d) {
            devices.push_back(make_host_device(d, clock, int64_t{1} << 40, 2));
          }
          return devices;
        }));
  };
  auto result = interp::run(*prepared, factory, {});
  EXPECT_TRUE(result) << result.error().message();
  return result ? std::move(*result) : interp::RunResult{};
}

void expect_same_as_sim(const std::string& collectives) {
  const auto prepared = prepare_text(looped(collectives));
  ASSERT_NE(prepared, nullptr);
  const interp::RunResult want = run_on(prepared, false, Transport::kAuto);
  for (const Transport transport : {Transport::kAuto, Transport::kCopies}) {
    const interp::RunResult got = run_on(prepared, true, transport);
    ASSERT_EQ(got.outputs.size(), want.outputs.size());
    for (size_t i = 0; i < got.outputs.size(); ++i) {
      for (int64_t k = 0; k < want.outputs[i].global.element_count(); ++k) {
        ASSERT_EQ(got.outputs[i].global.get_double(k), want.outputs[i].global.get_double(k))
            << collectives << "element " << k;
      }
    }
  }
}

TEST(PeerMeetings, GatherAndSum) {
  expect_same_as_sim(R"(    all_gather %c ro(%x) wo(%all) on %s
    all_reduce sum %c rw(%all) on %s
    reduce_scatter sum %c ro(%all) wo(%x) on %s
    launch @halve rw(%all) on %s
)");
}

TEST(PeerMeetings, OneMemberToAllAndBack) {
  expect_same_as_sim(R"(    all_gather %c ro(%x) wo(%all) on %s
    broadcast %c root(3) rw(%all) on %s
    reduce max %c root(1) rw(%all) on %s
    broadcast %c root(1) rw(%all) on %s
)");
}

TEST(PeerMeetings, InPlacePermutation) {
  expect_same_as_sim(R"(    all_gather %c ro(%x) wo(%all) on %s
    permute %c shift(2) rw(%all) on %s
    permute %c pairs [[0, 1], [1, 0], [4, 2]] rw(%all) on %s
    all_reduce max %c rw(%all) on %s
)");
}

}  // namespace
}  // namespace hostir::cuda
