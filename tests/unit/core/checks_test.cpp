// Assertions, indices, unwritten results, and sets of bytes. The scripts under faults have races
// and lifetimes, with their sentences.
#include "core_test.h"
#include "interp/core/byte_ranges.h"

namespace hostir::interp::test {
namespace {

std::string first_fault(const std::string& instruction) {
  const auto r = run(R"(
mesh @m = <x=1>
host @f on @m (%n: tensor<2xi64>) -> () {
)" + instruction + "  return\n}\n");
  return r == nullptr ? "no run" : r->fault();
}

TEST(Asserts, AndBounds) {
  EXPECT_EQ(first_fault("  assert rank == 1, \"only there\"\n"),
            "assert: rank 0: @f#1 assert failed: only there");
  EXPECT_EQ(first_fault("  %i = read %n[rank + 2]\n"),
            "out_of_bounds: rank 0: @f#1 read takes index 2 of dimension 0, which has 2");
  EXPECT_EQ(first_fault("  assert 1 / rank == 1\n").rfind("index_error: ", 0), 0u);
}

TEST(Undefined, ReturningIsAWarningThatNamesTheInstruction) {
  const auto r = run(R"(
mesh @m = <x=1>
host @f on @m () -> (%b: tensor<4xf32>) {
  %s = stream "s"
  %b = alloc on %s : tensor<4xf32>
  return %b
}
)");
  ASSERT_NE(r, nullptr);
  ASSERT_EQ(r->interpreter->faults().size(), 1u);
  const Fault& fault = r->interpreter->faults().front();
  EXPECT_EQ(fault.record.sentence, "rank 0: @f#3 return returns %b, which nothing has written");
  EXPECT_EQ(fault.severity, Severity::kWarning);
  EXPECT_FALSE(fault.fatal);
}

TEST(ByteSets, RemovedBytesAreNotCovered) {
  ByteSet set;
  set.add({0, 10});
  set.add({20, 30});
  set.remove({5, 25});
  EXPECT_TRUE(set.covers({0, 5}));
  EXPECT_TRUE(set.covers({25, 30}));
  EXPECT_FALSE(set.covers({4, 6}));
  EXPECT_FALSE(set.covers({24, 26}));
  set.remove({1, 2});
  EXPECT_FALSE(set.covers({0, 5}));
  EXPECT_TRUE(set.covers({2, 5}));
}

}  // namespace
}  // namespace hostir::interp::test
