// Finding the rank in the file names of real dumps.
#include "traces/import/file_name.h"

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

}  // namespace
}  // namespace hostir::traces::import
