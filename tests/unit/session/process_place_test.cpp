// A process's place in a run, from the environment set by launchers.
#include "hostir/api/open/process_place.h"

#include <gtest/gtest.h>

#include <map>

namespace hostir::api {
namespace {

using Variables = std::map<std::string, std::string>;

Expected<interp::ProcessPlace> place_in(const Variables& variables) {
  return process_place([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(ProcessPlace, AloneWithoutALauncher) {
  const auto place = place_in({});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->count, 1);
  EXPECT_EQ(place_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}})->count, 1);
}

TEST(ProcessPlace, Torchrun) {
  const auto place = place_in({{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "node0"},
                               {"MASTER_PORT", "29500"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->index, 5);
  EXPECT_EQ(place->count, 8);
  EXPECT_EQ(place->local_index, 1);
  EXPECT_EQ(place->local_count, 4);
  EXPECT_EQ(place->meeting_host, "node0");
  EXPECT_EQ(place->meeting_port, 29501);  // the launcher's own store is at 29500
  EXPECT_FALSE(place->launcher_listens);
}

TEST(ProcessPlace, MpirunOnOneComputerNeedsNoAddress) {
  const auto place = place_in({{"OMPI_COMM_WORLD_RANK", "1"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->meeting_host, "localhost");
  EXPECT_GT(place->meeting_port, 0);
}

TEST(ProcessPlace, SrunOnSeveralComputersNeedsOne) {
  Variables variables = {{"SLURM_PROCID", "9"},
                         {"SLURM_NTASKS", "16"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NTASKS_PER_NODE", "8"}};
  const auto without = place_in(variables);
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message().find("MASTER_ADDR"), std::string::npos);
  variables["MASTER_ADDR"] = "node0";
  const auto place = place_in(variables);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->index, 9);
  EXPECT_EQ(place->local_index, 1);
}

TEST(ProcessPlace, WhatIsWrongIsNamed) {
  EXPECT_EQ(place_in({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).error().message(),
            "RANK is \"x\", not a number");
  EXPECT_EQ(place_in({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).error().diagnostics.front().id,
            "launcher");
  EXPECT_EQ(place_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).error().message(),
            "RANK is 2, but WORLD_SIZE is 2");
  EXPECT_NE(place_in({{"RANK", "0"}}).error().message().find("WORLD_SIZE"), std::string::npos);
}

}  // namespace
}  // namespace hostir::api
