// interp/cuda/launch_thread.h
#include "interp/cuda/launch_thread.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace hostir::cuda {
namespace {

using Made = std::vector<std::pair<void*, void*>>;

TEST(LaunchThread, MakesLaunchesInOrder) {
  constexpr size_t kLaunches = 10'000;  // many times the ring
  std::vector<char> places(kLaunches);
  Made made;
  LaunchThread thread([&](void* graph, void* stream) { made.emplace_back(graph, stream); });
  for (char& place : places) thread.add(&place, &places);
  thread.finish();
  ASSERT_EQ(made.size(), kLaunches);
  for (size_t i = 0; i < kLaunches; ++i) {
    EXPECT_EQ(made[i], (std::pair<void*, void*>(&places[i], &places)));
  }
}

TEST(LaunchThread, FinishWaitsForTheLaunchThatIsBeingMade) {
  int made = 0;
  LaunchThread thread([&](void*, void*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++made;
  });
  for (int round = 1; round <= 3; ++round) {
    thread.add(&made, nullptr);
    thread.finish();
    EXPECT_EQ(made, round);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // it sleeps, and has to wake
  }
}

TEST(LaunchThread, TheEndMakesWhatWasAdded) {
  int made = 0;
  {
    LaunchThread thread([&](void*, void*) { ++made; });
    for (int i = 0; i < 5; ++i) thread.add(&made, nullptr);
  }
  EXPECT_EQ(made, 5);
}

}  // namespace
}  // namespace hostir::cuda
