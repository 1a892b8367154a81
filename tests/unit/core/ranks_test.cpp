// Many ranks: what they share, and who is next of them.
#include <fmt/core.h>

#include <random>

#include "core_test.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp::test {
namespace {

// A whole value, a cut one, and both gathered.
std::string gathering_program(int ranks) {
  return fmt::format(R"(mesh @m = <tp={0}>
host @f on @m (%x: shard<{0}x4xf32, @m, [{{tp}}, {{}}]>, %b: shard<4xf32, @m, [{{}}]>) -> (%y: shard<{0}x4xf32, @m, [{{}}, {{}}]>) {{
  %c = comm over {{tp}}
  %s = stream "s"
  %y = alloc on %s : shard<{0}x4xf32, @m, [{{}}, {{}}]>
  %e = all_gather %c ro(%x) wo(%y) on %s
  wait %e on host
  return %y
}}
)",
                     ranks);
}

TEST(ManyRanks, HoldOnePlacementOfWhatAllHold) {
  const auto code = compile(gathering_program(512));
  ASSERT_TRUE(code);
  size_t cut = 0;
  for (const LayoutTable& layout : code->layouts) {
    ASSERT_EQ(layout.by_rank.size(), 512u);
    const bool is_cut = layout.by_rank[0].box != layout.by_rank[1].box;
    EXPECT_EQ(layout.by_rank.distinct().size(), is_cut ? 512u : 1u) << to_string(layout.type);
    cut += is_cut ? 1U : 0U;
  }
  EXPECT_EQ(cut, 1u);
}

TEST(ManyRanks, StateTheirCountsOnce) {
  for (const int ranks : {8, 256}) {
    const auto r = run(gathering_program(ranks));
    ASSERT_TRUE(r);
    EXPECT_EQ(r->end, RunEnd::kFinished) << r->fault();
    EXPECT_EQ(r->interpreter->engine().communication.member_counts().size(), 1u);
  }
}

TEST(MemberCounts, KnowWhereBlocksBegin) {
  MemberCountsTable table;
  const MemberCounts a = table.keep({3, 0, 4});
  const MemberCounts b = table.keep({3, 0, 4});
  EXPECT_EQ(a.begin(), b.begin());
  EXPECT_EQ(a.offset(0), 0);
  EXPECT_EQ(a.offset(2), 3);
  EXPECT_EQ(a.total(), 7);
  EXPECT_EQ(table.keep({3, 4}).total(), 7);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_TRUE(table.keep({}).empty());
  EXPECT_EQ(MemberCounts().total(), 0);
}

TEST(RunQueue, GivesTheSmallestClockThenTheSmallestRank) {
  std::mt19937_64 random(7);
  for (const size_t ranks : {1u, 2u, 3u, 8u, 100u}) {
    RunQueue queue(ranks);
    std::vector<int64_t> keys(ranks, RunQueue::kCannotRun);
    EXPECT_EQ(queue.first(), kNoRank);
    for (int i = 0; i < 2000; ++i) {
      const size_t rank = random() % ranks;
      keys[rank] = random() % 4 == 0 ? RunQueue::kCannotRun : static_cast<int64_t>(random() % 5);
      queue.set(static_cast<Rank>(rank), keys[rank]);
      const auto least = std::min_element(keys.begin(), keys.end());
      const Rank wanted =
          *least == RunQueue::kCannotRun ? kNoRank : static_cast<Rank>(least - keys.begin());
      ASSERT_EQ(queue.first(), wanted);
    }
  }
}

}  // namespace
}  // namespace hostir::interp::test
