#include "core_test.h"
#include "interp/core/loop_paths.h"
#include "programs.h"

namespace hostir::interp::test {
namespace {

TEST(Interpreter, RunsTheMlpOnEightRanks) {
  const auto r = run(kMlp);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->end, RunEnd::kFinished) << r->fault();
  EXPECT_TRUE(r->interpreter->finished());
  EXPECT_EQ(r->interpreter->position(), 8u * 11u);
  const auto ledger = r->interpreter->ledger();
  ASSERT_EQ(ledger.size(), 2u);  // two groups of four
  EXPECT_EQ(ledger[0].members.size(), 4u);
  EXPECT_EQ(ledger[1].members[0].first, 4);
  const Arrival& arrival = *ledger[1].members[0].second;
  EXPECT_EQ(arrival.kind, OpKind::all_reduce);
  EXPECT_EQ(arrival.dtype, DType::kF32);
  EXPECT_EQ(arrival.total_elems, 8 * 32);
  EXPECT_EQ(r->interpreter->live_bytes(0), (8 * 32 + 32 * 16 + 16 * 32 + 8 * 32) * 4);
  EXPECT_EQ(r->interpreter->peak_bytes(0), r->interpreter->live_bytes(0) + 8 * 16 * 4);
  const auto result = r->interpreter->result(0, 0);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->size_bytes, 8 * 32 * 4);
}

TEST(Interpreter, SchedulesBySmallestClockThenRank) {
  const auto r = start(kMlp);
  ASSERT_TRUE(r);
  for (int turn = 0; turn < 2; ++turn) {
    for (Rank rank = 0; rank < 8; ++rank) {
      ASSERT_EQ(r->interpreter->next_rank(), rank);
      ASSERT_TRUE(r->interpreter->step(rank));
    }
  }
  EXPECT_FALSE(r->interpreter->step(8));
}

TEST(Interpreter, LoopsCarryEventsAndPathsNameIterations) {
  const auto r = run(R"(
mesh @m = <x=2>
kernel @k(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "s"
  %t = stream "t"
  %b, %e0 = alloc on %s : tensor<4xf32>
  %e1 = for %i in 0..3 carry(%p = %e0) {
    %e2 = for %j in 0..2 carry(%q = %p) {
      wait %q on %t
      %e = launch @k ro(%a) wo(%b) on %t
      yield %e
    }
    yield %e2
  }
  wait %e1 on host
  return %b
}
)");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->end, RunEnd::kFinished) << r->fault();
  // 3 declarations, outer for, 3 x (inner for, 2 x 3, yield), wait, return; on each of two ranks.
  EXPECT_EQ(r->interpreter->position(), 2u * (3 + 1 + 3 * (1 + 2 * 3 + 1) + 2));
  const auto& paths = r->interpreter->loop_paths();
  EXPECT_EQ(paths.size(), 1u + 3 + 6);
  EXPECT_EQ(paths.to_string(*r->code, static_cast<LoopPathId>(paths.size() - 1)), "%i=2, %j=1");
}

TEST(Interpreter, EmptyLoopsAndZeroSizesAreNormal) {
  const auto r = run(R"(
mesh @m = <x=4>
kernel @k(%x: tensor<0xf32>) -> (%y: tensor<0xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: shard<2xf32, @m, [{x}]>) -> (%b: shard<2xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "s"
  %z = alloc on %s : tensor<0xf32>
  %y = alloc on %s : tensor<0xf32>
  for %i in 5..5 {
    launch @k ro(%z) wo(%y) on %s
  }
  for %i in 0..1000000000 {
  }
  launch @k ro(%z) wo(%y) on %s
  free %z on %s
  free %y on %s
  %b = alloc on %s : shard<2xf32, @m, [{}]>
  all_gather %c ro(%a) wo(%b) on %s
  return %b
}
)");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->end, RunEnd::kFinished) << r->fault();
}

}  // namespace
}  // namespace hostir::interp::test
