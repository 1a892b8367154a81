// Steps go both ways: during any walk over the history, the state at a position is bit for bit the
// same at every visit.
#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "tests/unit/session/live_run.h"
#include "tests/unit/state_digest.h"

namespace hostir::interp {
namespace {

// Identifies a position by the decisions that lead to it.
uint64_t prefix_key(const History& history) {
  uint64_t key = 1469598103934665603u;
  for (uint64_t k = 0; k < history.position(); ++k) {
    const Decision& d = history.line()[k];
    for (const uint64_t part : {static_cast<uint64_t>(d.kind), static_cast<uint64_t>(d.rank),
                                static_cast<uint64_t>(d.edit)})
      key = (key ^ part) * 1099511628211u;
  }
  return key;
}

std::string random_command(std::mt19937& random, uint64_t size, Rank ranks) {
  const auto below = [&](uint64_t n) { return random() % n; };
  const uint64_t choice = below(100);
  if (choice < 26) return "step";
  if (choice < 48) return "reverse-step";
  if (choice < 58) return "next";
  if (choice < 66) return "reverse-next";
  if (choice < 72) return "goto " + std::to_string(below(size + 1));
  if (choice < 80) return "rank " + std::to_string(below(static_cast<uint64_t>(ranks)));
  if (choice < 84) return "rank all";
  if (choice < 86) return "freeze " + std::to_string(below(static_cast<uint64_t>(ranks)));
  if (choice < 90) return "thaw all";
  if (choice < 92) return "finish";
  if (choice < 93) return "reverse-finish";
  if (choice < 95) return "until collective";
  if (choice < 97) return "reverse-until collective";
  return choice < 98 ? "until rendezvous" : "reverse-continue";
}

void walk(LiveSession& session, int steps, uint32_t seed) {
  std::mt19937 random(seed);
  std::unordered_map<uint64_t, uint64_t> digests;
  int64_t revisited = 0;
  for (int i = 0; i < steps; ++i) {
    History& history = session.history();
    const std::string line =
        random_command(random, history.size(), session.snapshot()->rank_count());
    const auto command = parse_command(line);
    ASSERT_TRUE(command) << line;
    const auto outcome = session.execute(*command, std::stop_token());
    ASSERT_TRUE(outcome) << "step " << i << " " << line << ": " << outcome.error().message();
    const uint64_t digest = digest_of(session.interpreter());
    const auto [at, is_new] = digests.emplace(prefix_key(history), digest);
    revisited += is_new ? 0 : 1;
    ASSERT_EQ(at->second, digest) << "step " << i << ", " << line << ", position "
                                  << history.position() << " branch " << history.branch();
    ASSERT_EQ(session.snapshot()->position.decision, history.position());
  }
  EXPECT_GT(revisited, steps / 4);  // otherwise the walk tested nothing
}

constexpr int kSteps = 10000;

TEST(RandomWalk, TensorParallelMlpIsIdenticalAtEqualPositions) {
  const auto session = open(
      "tests/programs/tp_mlp.hir", "mlp",
      {generated("x", "normal(1, 1x3x4xf32)"), generated("w1", "normal(2, 5x4xf32)"),
       generated("b1", "normal(3)"), generated("w2", "normal(4)"), generated("b2", "normal(5)")},
      3);
  ASSERT_TRUE(session);
  walk(*session, kSteps, 1);
}

TEST(RandomWalk, PipelineByHandIsIdenticalAtEqualPositions) {
  const auto session = open("tests/programs/pipeline_by_hand.hir", "pipeline",
                            {generated("x", "normal(1)"), generated("w", "normal(2)")}, 2);
  ASSERT_TRUE(session);
  walk(*session, kSteps, 2);
}

}  // namespace
}  // namespace hostir::interp
