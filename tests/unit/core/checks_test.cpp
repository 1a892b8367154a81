// Race, lifetime and bounds checks: each finding names rank, instructions and buffer.
#include "core_test.h"
#include "interp/core/byte_ranges.h"

namespace hostir::interp::test {
namespace {

std::string one_rank(const std::string& body) {
  return R"(
mesh @m = <x=1>
kernel @k(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>, %m: tensor<4x8xf32>, %n: tensor<2xi64>) -> () {
  %s = stream "s"
  %t = stream "t"
  %g, %ga = alloc on %s : tensor<4xf32>
  %h, %ha = alloc on %t : tensor<4xf32>
)" + body +
         "  return\n}\n";
}

std::string first_fault(const std::string& body) {
  const auto r = run(one_rank(body));
  return r == nullptr ? "no run" : r->fault();
}

TEST(Races, ReadAfterWriteOnAnotherStream) {
  EXPECT_EQ(first_fault(R"(
  launch @k ro(%a) wo(%g) on %s
  launch @k ro(%g) wo(%h) on %t
)"),
            "race_raw: rank 0: @f#6 launch reads %g on stream \"t\" without waiting for @f#5 "
            "launch, which writes it on stream \"s\"; both touch bytes 0:16");
}

TEST(Races, NoneAfterWait) {
  EXPECT_EQ(first_fault(R"(
  %e = launch @k ro(%a) wo(%g) on %s
  wait %e on %t
  %e2 = launch @k ro(%g) wo(%h) on %t
  wait %e2 on %s
  free %g on %s
  free %h on %t
)"),
            "");
}

TEST(Races, HostWaitOrdersEveryStream) {
  EXPECT_EQ(first_fault(R"(
  %e = launch @k ro(%a) wo(%g) on %s
  wait %e on host
  launch @k ro(%g) wo(%h) on %t
  %e3 = launch @k ro(%g) wo(%h) on %t
  wait %e3 on %s
  free %g on %s
  free %h on %t
)"),
            "");
}

TEST(Races, WriteAfterReadAndFreeInFlight) {
  EXPECT_EQ(first_fault(R"(
  %e = launch @k ro(%a) wo(%g) on %s
  wait %e on %t
  launch @k ro(%g) wo(%h) on %t
  launch @k ro(%a) wo(%g) on %s
)")
                .rfind("race_war: rank 0: @f#8 launch writes %g on stream \"s\"", 0),
            0u);
  EXPECT_EQ(first_fault(R"(
  %e = launch @k ro(%a) wo(%g) on %s
  wait %e on %t
  launch @k ro(%g) wo(%h) on %t
  free %g on %s
)")
                .rfind("free_in_flight: rank 0: @f#8 free frees %g on stream \"s\"", 0),
            0u);
}

TEST(Races, ColumnsOfOneMatrixDoNotConflict) {
  const std::string body = R"(
  %b = alloc on %s : tensor<4x8xf32>
  %v = subview %b[:, 0:4]
  %w = subview %b[:, 4:8]
  %z = subview %b[:, 3:7]
  wait %ga on %t
)";
  const std::string kernel = R"(
kernel @kk(%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %y = add %x, %x
  return %y
}
)";
  std::string text = one_rank(body + R"(
  %x = subview %m[:, 0:4]
  %e0 = launch @kk ro(%x) wo(%v) on %s
  wait %e0 on %t
  %e1 = launch @kk ro(%x) wo(%w) on %s
  launch @kk ro(%x) wo(%v) on %t
)");
  text.insert(text.find("host @f"), kernel);
  auto r = run(text);
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->fault().rfind("leak", 0) == 0) << r->fault();
  text.insert(text.find("  return\n}\n", text.find("host @f")),
              "  launch @kk ro(%x) wo(%z) on %t\n");
  r = run(text);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fault().rfind("race_waw: rank 0:", 0), 0u) << r->fault();
}

TEST(Lifetime, UseAfterFreeDoubleFreeLeak) {
  EXPECT_EQ(first_fault("  free %g on %s\n  launch @k ro(%a) wo(%g) on %s\n"),
            "use_after_free: rank 0: @f#6 launch uses %g that was freed by @f#5 free");
  EXPECT_EQ(first_fault("  free %g on %s\n  free %g on %s\n"),
            "double_free: rank 0: @f#6 free frees %g that was freed by @f#5 free");
  EXPECT_EQ(first_fault("  free %g on %s\n"),
            "leak: rank 0: %h of 16 bytes made by @f#4 alloc is never freed");
  EXPECT_EQ(first_fault("  launch @k ro(%g) wo(%h) on %s\n").rfind("uninitialised_read: ", 0), 0u);
}

TEST(Lifetime, StorageReuseMakesOldNamesStale) {
  EXPECT_EQ(first_fault(R"(
  %e = launch @k ro(%a) wo(%g) on %s
  %r = alloc on %s : tensor<4xf32> over %g
  launch @k ro(%a) wo(%r) on %s
  launch @k ro(%g) wo(%h) on %s
)"),
            "use_after_free: rank 0: @f#8 launch uses %g that was given to another name by @f#6 "
            "alloc");
}

TEST(Asserts, AndBounds) {
  EXPECT_EQ(first_fault("  assert rank == 1, \"only there\"\n"),
            "assert: rank 0: @f#5 assert failed: only there");
  EXPECT_EQ(first_fault("  %i = read %n[rank + 2]\n"),
            "out_of_bounds: rank 0: @f#5 read takes index 2 of dimension 0, which has 2");
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
