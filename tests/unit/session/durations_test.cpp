#include "interp/session/log/durations.h"

#include <gtest/gtest.h>

#include <random>

namespace hostir::interp {
namespace {

TEST(Durations, BinsCoverAllDurationsWithoutGaps) {
  EXPECT_EQ(Durations::bin_of(-5), 0);
  for (int32_t bin = 0; bin < 900; ++bin) {
    const auto [first, end] = Durations::range_of(bin);
    ASSERT_LT(first, end);
    ASSERT_EQ(Durations::bin_of(first), bin);
    ASSERT_EQ(Durations::bin_of(end - 1), bin);
    ASSERT_EQ(Durations::bin_of(end), bin + 1);
    ASSERT_LE(end - first, std::max<int64_t>(1, first / 16));
  }
}

TEST(Durations, SaysWhatTheListOfDurationsSays) {
  std::mt19937_64 random(3);
  std::vector<int64_t> list;
  Durations all;
  for (int64_t i = 0; i < 1001; ++i) {
    const auto ns = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 40)));
    list.push_back(ns);
    all.add(ns, i);
  }
  const auto longest = std::max_element(list.begin(), list.end());
  EXPECT_EQ(all.most_ns(), *longest);
  EXPECT_EQ(all.longest_event(), longest - list.begin());
  EXPECT_EQ(all.least_ns(), *std::min_element(list.begin(), list.end()));
  std::sort(list.begin(), list.end());
  const auto median = static_cast<double>(list[500]);
  EXPECT_NEAR(all.median_ns(), median, median / 16 + 1);
}

TEST(Durations, EqualOnesHaveAnExactMedianAndNoDeviation) {
  Durations d;
  for (int i = 0; i < 7; ++i) d.add(1000003, i);
  EXPECT_EQ(d.median_ns(), 1000003);
  EXPECT_EQ(d.mean_ns(), 1000003);
  EXPECT_NEAR(d.deviation_ns(), 0, 1);
  EXPECT_EQ(d.shortest_event(), 0);
  EXPECT_EQ(Durations().median_ns(), 0);
  EXPECT_EQ(Durations().least_ns(), 0);
}

}  // namespace
}  // namespace hostir::interp
