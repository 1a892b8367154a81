// Deadlocks and mismatches: found at once and explained in one sentence.
#include "core_test.h"
#include "interp/model/verdict.h"

namespace hostir::interp::test {
namespace {

std::string two_comms(const std::string& body, int ranks = 2, const std::string& params = "") {
  return "mesh @m = <x=" + std::to_string(ranks) + ">\nhost @f on @m (" +
         (params.empty() ? "%a: tensor<4xf32>, %b: tensor<4xf32>" : params) +
         ") -> () {\n  %c = comm over {x}\n  %d = comm over {x}\n  %s = stream \"s\"\n"
         "  %t = stream \"t\"\n  %p = alloc on %s : tensor<4xf32>\n"
         "  %q = alloc on %t : tensor<4xf32>\n" +
         body + "  return\n}\n";
}

TEST(Mismatch, TieNamesBothInRankOrder) {
  const auto r = run(two_comms(R"(
  where coord(x) == 0 {
    all_reduce sum %c ro(%a) wo(%p) on %s
    all_reduce max %c ro(%b) wo(%q) on %t
  } else {
    all_reduce max %c ro(%b) wo(%q) on %t
    all_reduce sum %c ro(%a) wo(%p) on %s
  }
)"));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->end, RunEnd::kFault);
  EXPECT_EQ(r->fault(),
            "collective_mismatch: %c = comm over {x} seq 0: rank 0 all_reduce sum f32[4], rank 1 "
            "all_reduce max f32[4] (at @f#8, @f#10)");
}

TEST(Mismatch, MajorityIsExpectedWhoeverComesFirst) {
  for (int odd = 0; odd < 4; ++odd) {
    const auto r = run(two_comms("  where coord(x) == " + std::to_string(odd) + R"( {
    reduce sum %c root(1) ro(%a) wo(%p) on %s
  } else {
    reduce sum %c root(2) ro(%a) wo(%p) on %s
  }
)",
                                 4));
    ASSERT_TRUE(r);
    std::string others;
    for (int i = 0; i < 4; ++i) {
      if (i != odd) others += (others.empty() ? "" : ", ") + std::to_string(i);
    }
    EXPECT_EQ(r->fault(), "collective_mismatch: %c = comm over {x} seq 0: rank " +
                              std::to_string(odd) +
                              " reduce sum f32[4] root 1, expected reduce sum f32[4] root 2 as on "
                              "ranks " +
                              others + (odd == 0 ? " (at @f#8, @f#9)" : " (at @f#9, @f#8)"));
  }
}

TEST(Mismatch, CountsAndDtypesAndBlocks) {
  const auto r = run(R"(
mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>, %b: tensor<4xi32>) -> () {
  %c = comm over {x}
  %s = stream "s"
  %p = alloc on %s : tensor<4xf32>
  %q = alloc on %s : tensor<4xi32>
  where coord(x) == 0 {
    all_reduce sum %c ro(%a) wo(%p) on %s
  } else {
    all_reduce sum %c ro(%b) wo(%q) on %s
  }
  return
}
)");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fault(),
            "collective_mismatch: comm over {x} seq 0: rank 0 all_reduce sum f32[4], rank 1 "
            "all_reduce sum i32[4] (at @f#6, @f#7)");
}

TEST(Mismatch, SendAndRecvOfOtherSizes) {
  const auto r = run(R"(
mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> () {
  %c = comm over {x}
  %s = stream "s"
  %p = alloc on %s : tensor<8xf32>
  where coord(x) == 0 {
    send %c peer(1) ro(%a) on %s
  } else {
    recv %c peer(0) wo(%p) on %s
  }
  return
}
)");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fault(),
            "collective_mismatch: comm over {x} send 0 to 1 number 0: rank 0 send f32[4], rank 1 "
            "recv f32[8] (at @f#5, @f#6)");
}

TEST(Deadlock, NeverIssuedByARankThatFinished) {
  const auto r = run(two_comms(R"(
  where coord(x) != 1 {
    all_reduce sum %c ro(%a) wo(%p) on %s
  }
)",
                               3));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->end, RunEnd::kFault);
  EXPECT_EQ(r->fault(),
            "deadlock: ranks 0, 2 blocked in all_reduce seq 0; never issued by rank 1, which "
            "finished (%c = comm over {x} at @f#8)");
  EXPECT_EQ(to_error(r->interpreter->faults()[0]).kind, ErrorKind::kStuck);
}

TEST(Deadlock, NeverStarted) {
  InterpreterOptions options;
  options.ranks = {0};
  const auto r =
      run(two_comms("  %e = all_reduce sum %c ro(%a) wo(%p) on %s\n  wait %e on host\n"), options);
  ASSERT_TRUE(r);
  EXPECT_EQ(
      r->fault().rfind("deadlock: rank 0 blocked in all_reduce seq 0; never issued by rank 1", 0),
      0u)
      << r->fault();
}

TEST(Deadlock, CrossedCommunicatorsOnOneStream) {
  const auto r = run(two_comms(R"(
  where coord(x) == 0 {
    all_reduce sum %c ro(%a) wo(%p) on %s
    all_reduce sum %d ro(%a) wo(%p) on %s
  } else {
    all_reduce sum %d ro(%a) wo(%p) on %s
    all_reduce sum %c ro(%a) wo(%p) on %s
  }
)"));
  ASSERT_TRUE(r);
  EXPECT_EQ(
      r->fault(),
      "deadlock: rank 0 blocked in all_reduce seq 0 (%c = comm over {x} at @f#8) waits for rank "
      "1; rank 1 blocked in all_reduce seq 0 (%d = comm over {x} at @f#10) waits for rank 0");
  EXPECT_EQ(diagnose::wait_graph(r->interpreter->run_model()).cycle.size(), 2u);
}

TEST(Deadlock, MissingRecv) {
  const auto r = run(two_comms("  where coord(x) == 0 {\n    send %c peer(1) ro(%a) on %s\n  }\n"));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fault().rfind(
                "deadlock: rank 0 blocked in send to rank 1 number 0; never received by rank 1", 0),
            0u)
      << r->fault();
}

TEST(Deadlock, TwoSendsFirst) {
  const auto r = run(two_comms(R"(
  send %c peer(1 - coord(x)) ro(%a) on %s
  recv %c peer(1 - coord(x)) wo(%p) on %s
)"));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fault().rfind("deadlock: rank 0 blocked in send to rank 1 number 0", 0), 0u)
      << r->fault();
}

TEST(Deadlock, NoneWhereAGroupHoldsBoth) {
  const auto r = run(two_comms(R"(
  %e = group {
    send %c peer(1 - coord(x)) ro(%a) on %s
    recv %c peer(1 - coord(x)) wo(%p) on %s
  }
  wait %e on host
)"));
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->fault().empty() || r->fault().rfind("leak", 0) == 0) << r->fault();
}

TEST(Deadlock, FrozenRanksOnlyStopTheOthers) {
  const auto r = start(two_comms("  all_reduce sum %c ro(%a) wo(%p) on %s\n"));
  ASSERT_TRUE(r);
  r->interpreter->freeze(1);
  EXPECT_EQ(r->interpreter->run(), RunEnd::kStuck);
  EXPECT_TRUE(r->interpreter->faults().empty());
  EXPECT_EQ(
      diagnose::wait_graph(r->interpreter->run_model())
          .sentence.rfind(
              "rank 0 blocked in all_reduce seq 0; never issued by rank 1, which is frozen", 0),
      0u);
  r->interpreter->thaw(1);
  EXPECT_EQ(r->interpreter->run(), RunEnd::kFinished);
}

}  // namespace
}  // namespace hostir::interp::test
