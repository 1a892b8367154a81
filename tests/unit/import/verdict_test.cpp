// Dumps of real NCCL ranks: which rank is at fault and in which line, and no accusation without a
// fault.
#include <gtest/gtest.h>

#include <string>

#include "traces/import/open_dumps.h"

namespace hostir::traces::import {
namespace {

using diagnose::Charge;

OpenedDumps opened(const std::string& name) {
  auto out = open_dumps({"tests/truth/flight_recorder/" + name});
  EXPECT_TRUE(out) << out.error().message();
  return out ? std::move(*out) : OpenedDumps();
}

TEST(Verdict, NobodyIsAccusedOfAHealthyJob) {
  const OpenedDumps job = opened("healthy");
  EXPECT_FALSE(job.verdict.is_fault()) << job.verdict.sentence;
  EXPECT_TRUE(job.verdict.not_known.empty()) << job.verdict.not_known.front();
  EXPECT_EQ(job.run->ranks.size(), 4U);
}

TEST(Verdict, TheCallThatWasLeftOutIsNamed) {
  const OpenedDumps job = opened("skip");
  EXPECT_EQ(job.verdict.charge, Charge::kLeftOut);
  EXPECT_EQ(job.verdict.culprits, (std::vector<model::Rank>{2}));
  EXPECT_EQ(job.verdict.waiting, (std::vector<model::Rank>{0, 1, 3}));
  EXPECT_EQ(job.verdict.sequence, 5U);
  EXPECT_NE(job.verdict.sentence.find("from fr.py:33 in <module>"), std::string::npos)
      << job.verdict.sentence;
  EXPECT_NE(job.verdict.sentence.find("all_reduce seq 7 on default_pg, which rank 2 never enters"),
            std::string::npos)
      << job.verdict.sentence;
}

TEST(Verdict, TheSizeThatDiffersIsNamed) {
  const OpenedDumps job = opened("size");
  EXPECT_EQ(job.verdict.charge, Charge::kDifferentCall);
  EXPECT_EQ(job.verdict.culprits, (std::vector<model::Rank>{1}));
  EXPECT_NE(job.verdict.sentence.find("rank 1 calls all_reduce f32[100] seq 4 on default_pg"),
            std::string::npos)
      << job.verdict.sentence;
  EXPECT_NE(job.verdict.sentence.find("where ranks 0, 2, 3 call all_reduce f32[128]"),
            std::string::npos)
      << job.verdict.sentence;
}

TEST(Verdict, AFolderWithoutDumpsIsAnError) {
  const auto none = open_dumps({"tests/truth/jax_that_is_not_there"});
  EXPECT_FALSE(none);
}

}  // namespace
}  // namespace hostir::traces::import
