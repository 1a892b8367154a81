// Many ranks on the simulator: the kernels that they share, and RankSet.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "hostir/text/parse/parser.h"
#include "interp/core/code/launch_operands.h"
#include "interp/sim/rank_set.h"
#include "kernels/common/launch_plans.h"

namespace hostir::sim {
namespace {

struct Plan {
  kernels::BoundKernel bound;
};

// How many plans the launches of a host function take, all ranks together.
size_t plans_of(const std::string& text) {
  auto program = text::parse_program(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  if (!program) return 0;
  const auto code = interp::compile_code(std::make_shared<const Program>(std::move(*program)), {});
  EXPECT_TRUE(code) << (code ? "" : code.error().message());
  if (!code) return 0;
  kernels::LaunchPlans<Plan> plans([](kernels::BoundKernel bound) {
    return Expected<std::unique_ptr<Plan>>(std::make_unique<Plan>(Plan{std::move(bound)}));
  });
  const auto done = interp::prepare_static_launches(
      **code,
      [&](interp::CodeIndex index, interp::Rank rank,
          const interp::LaunchPlacements& operands) -> Expected<void> {
        HOSTIR_ASSIGN_OR_RETURN(const Function* kernel, interp::launched_kernel(**code, index));
        HOSTIR_TRY(plans.find(*(*code)->program,
                              {index, rank, kernel, operands.parameters, operands.results}));
        return {};
      });
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  return plans.size();
}

// One launch of `op` on rows of a value that is cut into `ranks` parts.
std::string one_launch(const std::string& op, int rows, int ranks) {
  return fmt::format(R"(mesh @m = <r={1}>
kernel @k(%x: tensor<?Mx4xf32>, %w: tensor<4x4xf32>) -> (%y: tensor<?Mx4xf32>) {{
  %h = matmul %x, %w
  %y = {2}
  return %y
}}
host @f on @m (%x: shard<{0}x4xf32, @m, [{{r}}, {{}}]>, %w: shard<4x4xf32, @m, [{{}}, {{}}]>) -> (%y: shard<{0}x4xf32, @m, [{{r}}, {{}}]>) {{
  %s = stream "s"
  %y = alloc on %s : shard<{0}x4xf32, @m, [{{r}}, {{}}]>
  %e = launch @k ro(%x, %w) wo(%y) on %s
  wait %e on host
  return %y
}}
)",
                     rows, ranks, op);
}

TEST(ManyRanks, ShareTheKernelsOfPartsThatAreCutAlike) {
  EXPECT_EQ(plans_of(one_launch("gelu %h", 16, 8)), 1u);
  EXPECT_EQ(plans_of(one_launch("gelu %h", 1024, 512)), 1u);
  EXPECT_EQ(plans_of(one_launch("gelu %h", 1022, 512)), 2u) << "the last rank has none";
  EXPECT_EQ(plans_of(one_launch("gelu %h", 1023, 512)), 2u) << "the last rank has one row";
}

// The elements of dropout depend on their position in the global value.
TEST(ManyRanks, HaveKernelsOfTheirOwnWherePositionMatters) {
  EXPECT_EQ(plans_of(one_launch("dropout %h {rate = 0.5, seed = 1}", 16, 8)), 8u);
}

TEST(RankSet, IsWalkedInOrder) {
  std::mt19937_64 random(3);
  for (const size_t ranks : {1u, 64u, 5000u}) {
    RankSet set(ranks);
    std::set<interp::Rank> wanted;
    for (int i = 0; i < 3000; ++i) {
      const auto rank = static_cast<interp::Rank>(random() % ranks);
      const bool member = random() % 3 == 0;
      set.set(rank, member);
      if (member) {
        wanted.insert(rank);
      } else {
        wanted.erase(rank);
      }
      const auto from = static_cast<interp::Rank>(random() % (ranks + 1));
      const auto next = wanted.lower_bound(from);
      ASSERT_EQ(set.next(from), next == wanted.end() ? interp::kNoRank : *next);
    }
    std::vector<interp::Rank> walked;
    for (interp::Rank r = set.first(); r != interp::kNoRank; r = set.next(r + 1))
      walked.push_back(r);
    EXPECT_EQ(walked, std::vector<interp::Rank>(wanted.begin(), wanted.end()));
  }
}

}  // namespace
}  // namespace hostir::sim
