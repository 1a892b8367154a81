// Finding the rank in the file names of real dumps.
#include "traces/import/formats/file_name.h"

#include <gtest/gtest.h>

namespace hostir::traces::import {
namespace {

TEST(FileName, RanksInUsualNames) {
  EXPECT_EQ(rank_in_name("dir9/trace_0"), 0);
  EXPECT_EQ(rank_in_name("nccl_trace_rank_12"), 12);
  EXPECT_EQ(rank_in_name("comm_lib_trace_rank_3.json"), 3);
  EXPECT_EQ(rank_in_name("trace_host17_5"), 5);
  EXPECT_EQ(rank_in_name("trace_host17_5.json.gz"), 5);
  EXPECT_EQ(rank_in_name("rank4_dump.pkl"), 4);
  EXPECT_EQ(rank_in_name("Rank-7.pickle"), 7);
  EXPECT_EQ(rank_in_name("run/rank_6/trace"), 6);
  EXPECT_EQ(rank_in_name("run/2/trace.json"), 2);
  EXPECT_EQ(rank_in_name("17"), 17);
}

TEST(FileName, NoNumberIsNoRank) {
  EXPECT_EQ(rank_in_name("logs/trace"), std::nullopt);
  EXPECT_EQ(rank_in_name("trace_99999999999"), std::nullopt);
}

TEST(FileName, TheNumberThatDiffersAndFitsIsTheRank) {
  using Ranks = std::vector<std::optional<model::Rank>>;
  const auto below_4 = [](size_t, model::Rank rank) { return rank < 4; };
  EXPECT_EQ(ranks_in_names({"fr_r3_pid11", "fr_r1_pid12"}, below_4), (Ranks{3, 1}));
  EXPECT_EQ(ranks_in_names({"trace_1_of_4", "trace_2_of_4"}, below_4), (Ranks{1, 2}));
  // All names end in a rank, so the first number is not looked at.
  EXPECT_EQ(ranks_in_names({"attempt1_2", "attempt3_0"}, below_4), (Ranks{2, 0}));
  // Two nodes with one GPU each: their ranks are unknown.
  EXPECT_EQ(ranks_in_names({"node1_gpu0", "node2_gpu0"}, below_4), (Ranks{0, 0}));
  EXPECT_EQ(pattern_of_name("logs/trace_12_of_16.json"), "trace_#_of_#.json");
}

}  // namespace
}  // namespace hostir::traces::import
