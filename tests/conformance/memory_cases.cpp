// Allocations, frees, aliases, views, and the count of live bytes.
#include "cases.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

constexpr const char* kKernels = R"(mesh @m = <r=2>
kernel @twice(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
kernel @columns(%x: tensor<?Rx?Nxf32>) -> (%y: tensor<?Rx?Nxf32>) {
  %y = add %x, %x
  return %y
}
)";

// Allocates and frees 16 buffers, which may share storage; each passes a value on.
const std::string kChurn = std::string(kKernels) + R"(
host @f on @m (%x: shard<8xf32, @m, [{r}]>) -> (%y: shard<8xf32, @m, [{r}]>) {
  %s = stream "main"
  %y = alloc on %s : shard<8xf32, @m, [{r}]>
  launch @twice ro(%x) wo(%y) on %s
  for %i in 0..16 {
    %t = alloc on %s : shard<8xf32, @m, [{r}]>
    %u = alloc on %s : shard<8xf32, @m, [{r}]>
    launch @twice ro(%x) wo(%t) on %s
    launch @twice ro(%t) wo(%u) on %s
    free %t on %s
    launch @twice ro(%u) wo(%y) on %s
    free %u on %s
  }
  return %y
}
)";

void check_churn_account(const BackendUnderTest& backend) {
  const auto trial = run(backend, kChurn, {tensor("8xf32=1")});
  ASSERT_NE(trial, nullptr);
  for (Rank rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(trial->interpreter->live_bytes(rank), 2 * 16);  // %x and %y
    EXPECT_EQ(trial->interpreter->peak_bytes(rank), 4 * 16);
  }
}

void check_churn_values(const BackendUnderTest& backend) {
  const auto trial = run(backend, kChurn, {tensor("8xf32=[1 2 3 4 5 6 7 8]")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0), tensor("4xf32=[8 16 24 32]"));
  EXPECT_EQ(trial->result(1), tensor("4xf32=[40 48 56 64]"));
}

// A write through one name is visible through the others; surrounding elements are unchanged.
const std::string kViews = std::string(kKernels) + R"(
host @f on @m (%x: tensor<4x2xf32>, inout %y: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %s = stream "main"
  %left = subview %y[:, 0:2]
  launch @columns ro(%x) wo(%left) on %s
  %row = subview %y[1:2, :]
  %flat = reinterpret %row : tensor<4xf32>
  launch @twice rw(%flat) on %s
  return %y
}
)";

void check_views(const BackendUnderTest& backend) {
  const auto trial =
      run(backend, kViews, {tensor("4x2xf32=[1 2][3 4][5 6][7 8]"), tensor("4x4xf32=100")});
  ASSERT_NE(trial, nullptr);
  const Tensor wanted =
      tensor("4x4xf32=[2 4 100 100][12 16 200 200][10 12 100 100][14 16 100 100]");
  for (Rank rank = 0; rank < 2; ++rank) EXPECT_EQ(trial->result(rank), wanted);
}

void check_views_run(const BackendUnderTest& backend) {
  const auto trial = run(backend, kViews, {tensor("4x2xf32=1"), tensor("4x4xf32=1")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->interpreter->live_bytes(0), (8 + 16) * 4) << "a view is no memory";
}

// `over`: the same storage under a new name and type.
const std::string kOver = std::string(kKernels) + R"(
host @f on @m (%x: tensor<4xf32>) -> (%z: tensor<2x2xf32>) {
  %s = stream "main"
  %y = alloc on %s : tensor<4xf32>
  launch @twice ro(%x) wo(%y) on %s
  %v = alloc on %s : tensor<4xf32>
  launch @twice ro(%y) wo(%v) on %s
  %z = alloc on %s : tensor<2x2xf32> over %y
  %w = reinterpret %v : tensor<2x2xf32>
  launch @columns ro(%w) wo(%z) on %s
  free %v on %s
  return %z
}
)";

void check_over_account(const BackendUnderTest& backend) {
  const auto trial = run(backend, kOver, {tensor("4xf32=1")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->interpreter->live_bytes(0), 2 * 16);
  EXPECT_EQ(trial->interpreter->peak_bytes(0), 3 * 16);
}

void check_over_values(const BackendUnderTest& backend) {
  const auto trial = run(backend, kOver, {tensor("4xf32=[1 2 3 4]")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(1), tensor("2x2xf32=[8 16][24 32]"));
}

const std::string kEmpty = std::string(kKernels) + R"(
host @f on @m (%x: shard<1xf32, @m, [{r}]>) -> (%y: shard<1xf32, @m, [{r}]>) {
  %s = stream "main"
  %z = alloc on %s : tensor<0xf32>
  %w = alloc on %s : tensor<0xf32>
  launch @twice ro(%z) wo(%w) on %s
  free %w on %s
  free %z on %s
  %y = alloc on %s : shard<1xf32, @m, [{r}]>
  launch @twice ro(%x) wo(%y) on %s
  return %y
}
)";

void check_empty(const BackendUnderTest& backend) {
  const auto trial = run(backend, kEmpty, {tensor("1xf32=3")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0).element_count(), 1);
  EXPECT_EQ(trial->result(1).element_count(), 0);
}

// Parameters that are written are the caller's memory: the result is the parameter.
const std::string kAlias = std::string(kKernels) + R"(
host @f on @m (inout %w: tensor<4xf32>) -> (%v: tensor<4xf32> alias(%w)) {
  %s = stream "main"
  launch @twice rw(%w) on %s
  return %w
}
)";

void check_alias(const BackendUnderTest& backend) {
  const auto trial = start(backend, kAlias, {tensor("4xf32=1")});
  ASSERT_NE(trial, nullptr);
  const auto parameter = trial->interpreter->allocations(0).front().id;
  trial->finish();
  const auto result = trial->interpreter->result(0, 0);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->allocation, parameter);
}

}  // namespace

void add_memory_cases(CaseList& cases) {
  cases.push_back({"memory_account_of_many_allocations", check_churn_account});
  cases.push_back({"values_of_many_allocations", check_churn_values});
  cases.push_back({"memory_views_are_no_memory", check_views_run});
  cases.push_back({"values_seen_through_views", check_views});
  cases.push_back({"memory_account_of_reused_storage", check_over_account});
  cases.push_back({"values_in_reused_storage", check_over_values});
  cases.push_back({"memory_of_no_elements", check_empty});
  cases.push_back({"memory_alias_is_the_parameter", check_alias});
}

}  // namespace hostir::conformance
