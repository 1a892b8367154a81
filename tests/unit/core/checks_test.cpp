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
  EXPECT_EQ(
      first_fault("  assert rank == 1, \"only there\"\n"),
      "assert: rank 0: @f#1 assert failed: rank == 1 does not hold, where rank is 0: only there");
  EXPECT_EQ(
      first_fault("  %i = read %n[0]\n  assert %i + size(x) < %i\n")
          .rfind(
              "assert: rank 0: @f#2 assert failed: %i + size(x) < %i does not hold, where %i is ",
              0),
      0u);
  EXPECT_EQ(first_fault("  %i = read %n[rank + 2]\n"),
            "out_of_bounds: rank 0: @f#1 read takes index 2 of dimension 0, which has 2");
  EXPECT_EQ(first_fault("  assert 1 / rank == 1\n").rfind("index_error: ", 0), 0u);
}

// Only ranks for which `written` holds write the result.
std::vector<Fault> faults_of_a_result(const std::string& written) {
  const auto r = run(R"(
mesh @m = <x=2>
kernel @one() -> (%v: tensor<?Nxf32>) {
  %v = constant {value = 1} : tensor<?Nxf32>
  return %v
}
host @f on @m () -> (%b: tensor<4xf32>) {
  %s = stream "s"
  %b = alloc on %s : tensor<4xf32>
  where )" + written +
                     R"( {
    launch @one wo(%b) on %s
  }
  return %b
}
)");
  return r ? r->interpreter->faults() : std::vector<Fault>();
}

TEST(Undefined, ReturningNamesTheInstruction) {
  const std::vector<Fault> faults = faults_of_a_result("rank < 0");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].record.sentence, "rank 0: @f#5 return returns %b, which nothing has written");
  // The null backend computes no values, but here no count that the host reads decides which bytes
  // are written.
  EXPECT_EQ(faults[0].severity, Severity::kError);
  EXPECT_FALSE(faults[0].fatal);
}

}  // namespace
}  // namespace hostir::interp::test
