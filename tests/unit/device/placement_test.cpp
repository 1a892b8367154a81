// The process and device of each rank.
#include "interp/cuda/placement.h"

#include <gtest/gtest.h>

#include "interp/core/interpreter.h"
#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

std::vector<int> placed(const PlaceRequest& request) {
  const auto out = place_ranks(request);
  EXPECT_TRUE(out) << (out ? "" : out.error().message());
  return out ? *out : std::vector<int>{};
}

TEST(Placement, RanksAreDealtOutEvenlyAndInOrder) {
  EXPECT_EQ(placed({.ranks = 8, .devices = 1}), (std::vector<int>(8, 0)));
  EXPECT_EQ(placed({.ranks = 8, .devices = 3, .devices_are_named = true}),
            (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(placed({.ranks = 2, .devices = 4}), (std::vector<int>{0, 1}));
}

TEST(Placement, TooFewDevicesThatNobodyNamed) {
  EXPECT_EQ(placed({.ranks = 4, .devices = 4}), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(placed({.ranks = 5, .devices = 4}), (std::vector<int>(5, 0)));
}

TEST(Placement, AProcessHoldsItsPart) {
  EXPECT_EQ(
      placed({.ranks = 5, .processes = 2, .process = 0, .devices = 2, .devices_are_named = true}),
      (std::vector<int>{0, 0, 1, -1, -1}));
  EXPECT_EQ(placed({.ranks = 5, .processes = 2, .process = 1, .devices = 2}),
            (std::vector<int>{-1, -1, -1, 0, 1}));
}

TEST(Placement, ProcessesOfOneComputerTakeItsDevicesInTurn) {
  PlaceRequest request{.ranks = 4, .processes = 4, .process = 3, .local_processes = 4};
  request.local_process = 3;
  request.devices = 2;
  EXPECT_EQ(placed(request), (std::vector<int>{-1, -1, -1, 1}));
  request.devices = 1;
  EXPECT_EQ(placed(request), (std::vector<int>{-1, -1, -1, 0}));
}

TEST(Placement, NamedDevices) {
  EXPECT_EQ(placed({.ranks = 4, .devices = 2, .place = "1,0,1,0"}), (std::vector<int>{1, 0, 1, 0}));
  const auto message = [](const PlaceRequest& request) {
    const auto out = place_ranks(request);
    return out ? std::string("placed") : out.error().message();
  };
  EXPECT_EQ(message({.ranks = 4, .devices = 2, .place = "0,1"}),
            "--place names the devices of 2 ranks, the program has 4");
  EXPECT_EQ(message({.ranks = 2, .devices = 2, .place = "0,x"}),
            "--place takes the device of every rank, as in 0,0,1,1, not \"x\"");
  EXPECT_EQ(message({.ranks = 2, .devices = 2, .place = "0,2"}),
            "--place puts rank 1 on device 2, but this process sees 2");
  EXPECT_EQ(message({.ranks = 2, .processes = 4, .devices = 1}),
            "4 processes cannot share the 2 ranks of the program");
}

TEST(Placement, InWords) {
  EXPECT_EQ(describe_places({0, 0, 0, 1, -1}), "ranks 0..2 on device 0, rank 3 on device 1");
}

TEST(Placement, EveryRankIsInOnePart) {
  for (Rank ranks = 1; ranks < 40; ++ranks) {
    for (int parts = 1; parts <= ranks; ++parts) {
      Rank next = 0;
      for (int p = 0; p < parts; ++p) {
        const RankRange range = part_of_ranks(ranks, parts, p);
        EXPECT_EQ(range.first, next);
        EXPECT_GT(range.end, range.first);
        EXPECT_LE(range.end - range.first, ranks / parts + 1);
        next = range.end;
      }
      EXPECT_EQ(next, ranks);
    }
  }
}

// What the log says about `ranks` on two devices.
std::string placed_on_two(int ranks, const std::string& groups, const std::string& place,
                          Transport transport = Transport::kAuto) {
  const auto prepared = prepare_text("mesh @m = <r=" + std::to_string(ranks) +
                                     R"(>
host @f on @m (inout %x: tensor<4xf32>) -> (%x: tensor<4xf32>) {
  %c = comm )" + groups + R"(
  %s = stream "s"
  all_reduce sum %c rw(%x) on %s
  return %x
}
)");
  if (prepared == nullptr) return "not prepared";
  std::string out;
  interp::RunOptions options;
  options.ended = [&](const interp::Interpreter& interpreter) {
    for (const auto& [name, value] : interpreter.backend().properties()) {
      if (name == "placement") out = value;
    }
  };
  options.backend.place = place;
  const auto factory =
      [transport](
          const interp::BackendRequest& request) -> Expected<std::unique_ptr<interp::Backend>> {
    BackendOptions with_devices;
    with_devices.devices = {0, 1};
    with_devices.transport = transport;
    with_devices.place = request.place;
    return make_device_backend(with_devices, [](const RunClock& clock) {
      std::vector<std::unique_ptr<Device>> devices;
      for (int d = 0; d < 2; ++d) devices.push_back(make_host_device(d, clock));
      return devices;
    });
  };
  const auto result = interp::run(*prepared, factory, options);
  if (!result) return result.error().message();
  EXPECT_EQ(result->worst(), nullptr) << result->worst()->record.sentence;
  return out;
}

// NCCL cannot join ranks that share a device with others; copies can.
TEST(Placement, ThreeRanksThatMeetShareTheFirstOfTwoDevicesWithNccl) {
  const Transport nccl = Transport::kNccl;
  EXPECT_EQ(placed_on_two(3, "over {r}", "", nccl), "ranks 0..2 on device 0");
  EXPECT_EQ(placed_on_two(4, "groups [[0, 1], [2, 3]]", "", nccl),
            "ranks 0..1 on device 0, ranks 2..3 on device 1");
  EXPECT_NE(placed_on_two(3, "over {r}", "0,0,1", nccl).find("some of its ranks share a device"),
            std::string::npos);
}

TEST(Placement, ThreeRanksThatCopyAreSpreadOverTwoDevices) {
  EXPECT_EQ(placed_on_two(3, "over {r}", ""), "ranks 0..1 on device 0, rank 2 on device 1");
  EXPECT_EQ(placed_on_two(3, "over {r}", "0,1,0"),
            "rank 0 on device 0, rank 1 on device 1, rank 2 on device 0");
}

}  // namespace
}  // namespace hostir::cuda
