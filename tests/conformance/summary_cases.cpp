// Digests and statistics of written values, as requested by a log.
#include <algorithm>

#include "cases.h"
#include "programs.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

using Mode = interp::Backend::ValueMode;

constexpr const char* kReduced = R"(mesh @m = <r=3>
kernel @twice(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%x: shard<12xf32, @m, [{r}]>) -> (%y: tensor<4xf32>) {
  %c = comm over {r}
  %s = stream "main"
  %mine = reinterpret %x : tensor<4xf32>
  %y = alloc on %s : tensor<4xf32>
  launch @twice ro(%mine) wo(%y) on %s
  all_reduce sum %c rw(%y) on %s
  return %y
}
)";

std::unique_ptr<Trial> reduced(const BackendUnderTest& backend, Mode mode) {
  auto trial = start(backend, kReduced, {tensor("12xf32=[1 2 3 4 5 6 7 8 9 10 11 12]")});
  if (trial == nullptr) return nullptr;
  trial->backend->set_value_mode(mode);
  trial->finish();
  return trial;
}

// The summary of the rank's n-th task; nullptr if there is none.
const interp::ValueSummary* summary_of(const Trial& trial, Rank rank, uint64_t task) {
  const auto at = std::find_if(
      trial.recorder.values.begin(), trial.recorder.values.end(),
      [&](const interp::ValueSummary& v) { return v.task == interp::make_task_id(rank, task); });
  return at == trial.recorder.values.end() ? nullptr : &*at;
}

void check_none(const BackendUnderTest& backend) {
  const auto trial = reduced(backend, Mode::kNone);
  ASSERT_NE(trial, nullptr);
  EXPECT_TRUE(trial->recorder.values.empty());
}

// A rank's tasks: 0 alloc, 1 launch, 2 all_reduce.
void check_digests(const BackendUnderTest& backend) {
  const auto trial = reduced(backend, Mode::kDigest);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->recorder.values.size(), 6u);
  for (Rank rank = 0; rank < 3; ++rank) {
    const auto* launched = summary_of(*trial, rank, 1);
    const auto* folded = summary_of(*trial, rank, 2);
    const auto* first = summary_of(*trial, 0, 2);
    ASSERT_TRUE(launched != nullptr && folded != nullptr && first != nullptr);
    EXPECT_EQ(folded->digest, first->digest) << "equal bytes, equal digests";
    EXPECT_NE(folded->digest, launched->digest);
    EXPECT_EQ(folded->rank, rank);
  }
  EXPECT_NE(summary_of(*trial, 0, 1)->digest, summary_of(*trial, 1, 1)->digest);
}

void check_stats(const BackendUnderTest& backend) {
  const auto trial = reduced(backend, Mode::kStats);
  ASSERT_NE(trial, nullptr);
  const auto* folded = summary_of(*trial, 1, 2);
  ASSERT_NE(folded, nullptr);
  EXPECT_TRUE(folded->has_stats);
  EXPECT_EQ(folded->min, 30);  // 2 * (1 + 5 + 9)
  EXPECT_EQ(folded->max, 48);
  EXPECT_EQ(folded->mean, 39);
  EXPECT_EQ(folded->nan_count, 0);
}

void check_repeated(const BackendUnderTest& backend) {
  const auto one = reduced(backend, Mode::kDigest);
  const auto two = reduced(backend, Mode::kDigest);
  ASSERT_TRUE(one != nullptr && two != nullptr);
  ASSERT_EQ(one->recorder.values.size(), two->recorder.values.size());
  for (size_t i = 0; i < one->recorder.values.size(); ++i) {
    EXPECT_EQ(one->recorder.values[i].digest, two->recorder.values[i].digest);
  }
}

}  // namespace

void add_summary_cases(CaseList& cases) {
  cases.push_back({"summary_none_unless_asked", check_none});
  cases.push_back({"summary_digests_are_repeated", check_repeated});
  cases.push_back({"values_have_digests", check_digests});
  cases.push_back({"values_have_statistics", check_stats});
}

}  // namespace hostir::conformance
