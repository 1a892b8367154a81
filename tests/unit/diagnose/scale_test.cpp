// Verdicts on thousands of ranks: their cost grows with the ranks, not with pairs of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "interp/diagnose/engine/shortest_cycle.h"
#include "interp/diagnose/recorded.h"
#include "interp/model/builder.h"

namespace hostir::diagnose {
namespace {

using model::Member;
using model::MemberState;
using model::Rank;
using model::RunBuilder;

constexpr Rank kOdd = 7;  // the rank at fault

/// A job whose ranks all make two calls; then `last` adds calls to the record.
class LargeJob {
 public:
  explicit LargeJob(Rank ranks) : ranks_(ranks) {
    model::Communicator all;
    all.name = "default_pg";
    all.members.emplace();
    for (Rank r = 0; r < ranks; ++r) {
      builder_.rank(r);
      all.members->push_back(r);
    }
    world_ = builder_.communicator(all);
    all.name = "other_pg";
    all.content_key = 1;
    other_ = builder_.communicator(all);
    for (Rank r = 0; r < ranks; ++r) {
      for (const uint64_t sequence : {1U, 2U}) call(world_, r, sequence, MemberState::kCompleted);
    }
  }
  Member& call(model::CommunicatorId group, Rank rank, uint64_t sequence,
               MemberState state = MemberState::kStarted) {
    Member& member = builder_.arrive(group, sequence, rank);
    member.state = state;
    member.call.kind = OpKind::all_reduce;
    member.call.dtype = DType::kF32;
    member.call.total_elems = 4;
    member.call.shape = Extents{4};
    member.order = order_++;
    return member;
  }
  Rank ranks() const { return ranks_; }
  model::CommunicatorId world() const { return world_; }
  model::CommunicatorId other() const { return other_; }
  model::Run run() && {
    builder_.run().motion = model::Motion::kStuck;
    return std::move(builder_).finish();
  }

 private:
  Rank ranks_;
  RunBuilder builder_;
  model::CommunicatorId world_;
  model::CommunicatorId other_;
  uint64_t order_ = 0;
};

struct Hang {
  const char* name;
  std::string begin;  // of the sentence
  std::function<void(LargeJob&)> add;
};

std::ostream& operator<<(std::ostream& out, const Hang& hang) { return out << hang.name; }

class LargeHang : public testing::TestWithParam<Hang> {};

// Processor time of one verdict, the least of some.
double seconds_of(const Hang& hang, Rank ranks, std::string& sentence) {
  LargeJob job(ranks);
  hang.add(job);
  const model::Run run = std::move(job).run();
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    sentence = judge(run).sentence;
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST_P(LargeHang, CostsTimeInProportionToItsRanks) {
  constexpr Rank kRanks = 2048;
  constexpr Rank kTimes = 8;
  std::string sentence;
  const double few = seconds_of(GetParam(), kRanks, sentence);
  EXPECT_TRUE(sentence.starts_with(GetParam().begin)) << sentence;
  const double many = seconds_of(GetParam(), kTimes * kRanks, sentence);
  RecordProperty("seconds_16384", std::to_string(many));
  // 8 if linear, 64 if quadratic; caches make it 12.
  EXPECT_LT(many / std::max(few, 1e-3), 24) << few << " s, then " << many << " s";
}

const Hang kHangs[] = {
    {"one_never_came", "rank 7 never came",
     [](LargeJob& job) {
       for (Rank r = 0; r < job.ranks(); ++r)
         if (r != kOdd) job.call(job.world(), r, 3);
     }},
    {"one_waits", "rank 7 makes one call more",
     [](LargeJob& job) { job.call(job.world(), kOdd, 3); }},
    {"one_calls_another", "rank 7 calls reduce_scatter",
     [](LargeJob& job) {
       for (Rank r = 0; r < job.ranks(); ++r)
         if (Member& member = job.call(job.world(), r, 3); r == kOdd)
           member.call.kind = OpKind::reduce_scatter;
     }},
    {"half_came_to_a_mismatch", "rank 7 calls reduce_scatter",
     [](LargeJob& job) {
       for (Rank r = 0; r <= job.ranks() / 2; ++r)
         if (Member& member = job.call(job.world(), r, 3); r == kOdd)
           member.call.kind = OpKind::reduce_scatter;
     }},
    {"other_order", "rank 7 calls all_reduce",
     [](LargeJob& job) {
       for (Rank r = 0; r < job.ranks(); ++r)
         job.call(r == kOdd ? job.world() : job.other(), r, r == kOdd ? 3 : 1);
     }},
    {"all_are_in_it", "no rank is accused",
     [](LargeJob& job) {
       for (Rank r = 0; r < job.ranks(); ++r) job.call(job.world(), r, 3);
     }},
};
INSTANTIATE_TEST_SUITE_P(Hangs, LargeHang, testing::ValuesIn(kHangs),
                         [](const auto& test) { return test.param.name; });

using Cycle = std::vector<uint32_t>;

TEST(ShortestCycle, StartsAtItsLowestNode) {
  EXPECT_EQ(shortest_cycle({}), Cycle{});
  EXPECT_EQ(shortest_cycle({{1}, {2}, {}}), Cycle{});
  EXPECT_EQ(shortest_cycle({{0}}), Cycle{0});
  EXPECT_EQ(shortest_cycle({{1}, {2}, {0}}), (Cycle{0, 1, 2}));
  // A cycle of three before one of two, which also is in a longer one.
  EXPECT_EQ(shortest_cycle({{1}, {2}, {0, 3}, {4}, {3, 0}}), (Cycle{3, 4}));
  // A node before the cycle, and one behind it.
  EXPECT_EQ(shortest_cycle({{2}, {}, {3}, {4, 1}, {2}}), (Cycle{2, 3, 4}));
}

// Without recursion, and once around.
TEST(ShortestCycle, OfAHundredThousandNodes) {
  constexpr uint32_t kNodes = 100'000;
  std::vector<std::vector<uint32_t>> next(kNodes);
  for (uint32_t n = 0; n + 1 < kNodes; ++n) next[n].push_back(n + 1);
  EXPECT_TRUE(shortest_cycle(next).empty());
  next.back().push_back(0);
  EXPECT_EQ(shortest_cycle(next).size(), kNodes);
}

}  // namespace
}  // namespace hostir::diagnose
