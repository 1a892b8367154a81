// The level-of-detail pyramid against brute force.
#include "traces/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hostir::traces {
namespace {

using interp::LogEvent;

// Events of one lane: mostly in order, some late, some long, some of zero length.
std::vector<LogEvent> random_events(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<LogEvent> out;
  int64_t now = -500;
  for (int i = 0; i < count; ++i) {
    LogEvent e;
    e.id = i;
    e.instruction = static_cast<interp::CodeIndex>(random() % 5);
    now += static_cast<int64_t>(random() % 40);
    const int64_t early = random() % 50 == 0 ? static_cast<int64_t>(random() % 3000) : 0;
    e.host_start_ns = now - early;
    const int64_t length = static_cast<int64_t>(random() % (random() % 20 == 0 ? 500 : 20));
    e.host_end_ns = e.host_start_ns + length;
    out.push_back(e);
  }
  return out;
}

void add(Timeline& timeline, const LogEvent& event) {
  if (const auto known = Timeline::event_of(event)) timeline.add({*known});
}

std::vector<interp::TimelineSlice> view(const Timeline& timeline, int64_t from_ns, int64_t to_ns,
                                        int32_t columns) {
  const TimelineWindow window = TimelineWindow::of({0, from_ns, to_ns, columns});
  std::vector<TimelineNode> nodes;
  timeline.collect(window, nodes);
  return slices_of(nodes, window);
}

struct Range {
  int64_t from, to;
};
std::vector<Range> ranges_of(std::mt19937& random, int64_t end) {
  std::vector<Range> ranges = {{-10000, end + 10000}, {0, end}, {end, end + 5}, {7, 8}};
  for (int i = 0; i < 40; ++i) {
    const auto from = static_cast<int64_t>(random() % static_cast<uint32_t>(end)) - 500;
    ranges.push_back({from, from + 1 + static_cast<int64_t>(random() % 2000)});
  }
  return ranges;
}

class PyramidOf : public ::testing::TestWithParam<int> {};

TEST_P(PyramidOf, ShowsEveryEventOnceAndNothingElse) {
  const int count = GetParam();
  const auto events = random_events(static_cast<uint32_t>(count), count);
  Timeline timeline;
  std::mt19937 random(1);
  for (const LogEvent& e : events) {  // built in pieces, as a log is read
    add(timeline, e);
    if (random() % 97 == 0) timeline.build();
  }
  timeline.build();
  ASSERT_EQ(timeline.size(), events.size());
  for (const Range range : ranges_of(random, events.back().host_end_ns + 600)) {
    for (const int32_t columns : {1, 7, 300, 100000}) {
      const auto slices = view(timeline, range.from, range.to, columns);
      uint64_t inside = 0;
      for (const LogEvent& e : events) {
        if (e.host_start_ns < range.to && e.host_end_ns >= range.from) ++inside;
      }
      uint64_t shown = 0;
      int64_t last_begin = INT64_MIN;
      for (const auto& s : slices) {
        shown += s.count;
        EXPECT_LE(last_begin, s.begin_ns);
        last_begin = s.begin_ns;
        EXPECT_LE(s.begin_ns, s.end_ns);
        EXPECT_LE(s.busy_ns, s.end_ns - s.begin_ns);
        const LogEvent& e = events[static_cast<size_t>(s.event)];
        EXPECT_EQ(e.instruction, s.instruction);
        EXPECT_GE(e.host_start_ns, s.begin_ns);
        EXPECT_LE(e.host_end_ns, s.end_ns);
        if (s.count == 1) {
          EXPECT_EQ(e.host_start_ns, s.begin_ns);
          EXPECT_EQ(e.host_end_ns, s.end_ns);
        }
      }
      // A node narrower than a column may extend past the edge by less than a column.
      EXPECT_GE(shown, inside);
      const int64_t column = std::max<int64_t>(1, (range.to - range.from) / columns);
      uint64_t near = 0;
      for (const LogEvent& e : events) {
        if (e.host_start_ns < range.to + column && e.host_end_ns >= range.from - column) ++near;
      }
      EXPECT_LE(shown, near);
      EXPECT_LE(slices.size(), 2 * static_cast<size_t>(columns) + 2);
    }
  }
}

TEST_P(PyramidOf, SumsAreExact) {
  const int count = GetParam();
  const auto events = random_events(static_cast<uint32_t>(count) + 1, count);
  Timeline timeline;
  for (const LogEvent& e : events) add(timeline, e);
  timeline.build();
  std::mt19937 random(2);
  for (const Range range : ranges_of(random, events.back().host_end_ns + 600)) {
    std::vector<InstructionSum> expected(5);
    for (const LogEvent& e : events) {
      if (e.host_start_ns >= range.to || e.host_end_ns < range.from) continue;
      ++expected[e.instruction].count;
      expected[e.instruction].busy_ns +=
          std::min(e.host_end_ns, range.to) - std::max(e.host_start_ns, range.from);
    }
    std::vector<InstructionSum> sums(5);
    timeline.sum(range.from, range.to, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      EXPECT_EQ(sums[i].count, expected[i].count);
      EXPECT_EQ(sums[i].busy_ns, expected[i].busy_ns);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PyramidOf, ::testing::Values(1, 2, 63, 64, 65, 4097, 9000));

TEST(Pyramid, DamagedTimesAreLeftOut) {
  Timeline timeline;
  LogEvent e;
  e.id = 1;
  e.host_start_ns = 5;
  e.host_end_ns = 4;
  add(timeline, e);
  e.host_start_ns = INT64_MIN + 1;
  e.host_end_ns = INT64_MAX;
  add(timeline, e);
  e.host_start_ns = 1;
  e.host_end_ns = 2;
  e.id = INT64_MAX;
  add(timeline, e);
  timeline.build();
  EXPECT_EQ(timeline.size(), 0u);
  EXPECT_TRUE(view(timeline, INT64_MIN, INT64_MAX, INT32_MAX).empty());
}

}  // namespace
}  // namespace hostir::traces
