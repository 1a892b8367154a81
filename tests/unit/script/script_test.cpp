// The script runner: failures are found and named; --update corrects expectations and nothing else.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "hostir/io/files.h"
#include "hostir/script/changed_program.h"
#include "hostir/script/edits.h"
#include "hostir/script/runner.h"
#include "tests/unit/session/live_run.h"

namespace hostir::script {
namespace {

class Script : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("hostir_script_" + std::to_string(getpid()) + ".hir");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  TestReport run(const std::string& text, TestOptions options = {}) {
    EXPECT_TRUE(io::write_file(path_.string(), text));
    options.backend.machine = *find_builtin_machine("h200x8");
    auto report = run_tests({path_.string()}, options, interp::make_sim);
    EXPECT_TRUE(report);
    return *report;
  }
  std::string text() const { return *io::read_file(path_.string()); }

  std::filesystem::path path_;
};

const std::string kProgram = R"(mesh @m = <tp=2>

fusion @f(%x: tensor<3x2xf32> <@m, [{}, {tp}]>, %w: tensor<2x2xf32> <@m, [{tp}, {}]>) -> (%y: tensor<3x2xf32> <@m, [{}, {}]>) {
  %y = matmul %x, %w
  return %y
}
)";

std::string all_failures(const TestReport& report) {
  std::string out;
  for (const TestCase& c : report.cases) {
    for (const std::string& f : c.failures) out += f + "\n";
  }
  return out;
}

// The failure was "0 outputs against 1 of @f", and the reason came lines later.
TEST_F(Script, AComparisonAfterAFailedRunNamesTheFault) {
  const TestReport report = run(R"(mesh @m = <x=2>
fusion @f(%a: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = neg %a
  return %y
}
kernel @neg(%a: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = neg %a
  return %y
}
host @h on @m (%a: shard<4xf32, @m, [{}]>) -> (%y: shard<4xf32, @m, [{}]>) {
  %s = stream "main"
  %y = alloc on %s : shard<4xf32, @m, [{}]>
  launch @neg ro(%a) wo(%y) on %s
  free %y on %s
  return %y
}
test "a freed result" {
  run @h(normal(1, 4xf32)) schedules(3) against @f
  expect_same_as_unsharded
})");
  const std::string failures = all_failures(report);
  const std::string said =
      "nothing to compare with the outputs of @f: rank 0: @h#5 return uses %y "
      "that was freed by @h#4 free";
  EXPECT_NE(failures.find(said), std::string::npos) << failures;
  EXPECT_EQ(failures.find(said), failures.rfind(said)) << failures;  // once for all schedules
  EXPECT_NE(failures.find("(schedules 0, 1, 2)"), std::string::npos) << failures;
}

TEST_F(Script, EveryFailureIsListedWithPositionRankAndValues) {
  const TestReport report = run(kProgram + R"(
test "all wrong" {
  run @f("3x2xf32=[1 2][3 4][5 6]", "2x2xf32=[1 0][0 1]")
  expect_output %y == "3x2xf32=[1 2][3 4][5 7]" exact
  expect_output %z == "1xf32=[1]"
  expect_value %y before all_reduce#1 rank 1 == "3x2xf32=[0 2][0 4][0 0]" exact
  expect_collectives { all_gather over {tp} }
  expect_no all_reduce
  expect_sharding @f %y = <@m, [{tp}, {}]>
  expect_error deadlock {{nobody}}
  happens_before all_reduce#1, all_reduce#2
}
)");
  const std::string failures = all_failures(report);
  for (const char* part :
       {"first at [2, 1]: 6 instead of 7", "there is no output %z", "communicated",
        "executed all_reduce", "is sharded", "which did not occur", "there is no all_reduce#2"})
    EXPECT_NE(failures.find(part), std::string::npos) << part << " in\n" << failures;
  EXPECT_EQ(report.failed(), 1);
}

TEST_F(Script, ExpectedValuesAreOfTheSameKind) {
  const std::string program =
      R"(fusion @f(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (%y: tensor<2xf32>, %j: tensor<2xi32>) {
  %y = neg %x
  %j = add %i, %i
  return %y, %j
}

test "kinds" {
  run @f("2xf32=[1 2]", "2xi32=[1 2]")
)";
  const TestReport good = run(program + R"(  expect_output %y == "2xf64=[-1 -2]"
  expect_output %j == "2xi32=[2 4]"
}
)");
  EXPECT_EQ(good.failed(), 0) << all_failures(good);
  for (const char* wrong : {"%y == \"2xi32=[-1 -2]\"", "%j == \"2xf32=[2 4]\"",
                            "%j == \"2xi64=[2 4]\"", "%j == \"2xi1=[1 1]\""}) {
    const TestReport bad = run(program + "  expect_output " + wrong + "\n}\n");
    EXPECT_NE(all_failures(bad).find("but the expected value is"), std::string::npos) << wrong;
  }
}

TEST_F(Script, WithoutValuesTheirExpectationsAreSkippedAndCounted) {
  TestOptions options;
  options.backend.name = "null";
  options.backend.traits.reads_values = false;
  const TestReport report = run(kProgram + R"(
test "values" {
  run @f("3x2xf32=[1 2][3 4][5 6]", "2x2xf32=[1 0][0 1]")
  expect_output %y == "3x2xf32=[7 7][7 7][7 7]"
  expect_value %y before all_reduce#1 rank 1 == "3x2xf32=[7 7][7 7][7 7]" exact
  expect_same_as_unsharded
  expect_collectives { all_reduce sum over {tp} }
}
)",
                                options);
  EXPECT_EQ(report.failed(), 0) << all_failures(report);
  EXPECT_EQ(report.skipped(), 3);
  EXPECT_NE(to_text(report).find("3 value expectations skipped"), std::string::npos);
}

TEST_F(Script, UpdateMakesNumbersTrueAndASecondTimeChangesNothing) {
  const std::string before = kProgram + R"(
// kept as it is
test "numbers" {
  run @f("3x2xf32=[1 2][3 4][5 6]", "2x2xf32=[1 0][0 1]") schedules(3)
  expect_output %y == "3x2xf32=[0 0][0 0][0 0]" exact  // and this
  expect_collectives { all_reduce sum over {tp} 1 bytes }
  expect_sharding @f %x = <@m, [{tp}, {}]>
}
)";
  TestOptions options;
  options.update = TestOptions::Update::kYes;
  EXPECT_EQ(run(before, options).updated_files, 1);
  const std::string after = text();
  EXPECT_NE(after.find("3x2xf32=[1 2][3 4][5 6]\" exact  // and this"), std::string::npos) << after;
  EXPECT_NE(after.find("24 bytes"), std::string::npos) << after;
  EXPECT_NE(after.find("// kept as it is"), std::string::npos);
  const TestReport again = run(after, options);
  EXPECT_EQ(again.updated_files, 0);
  EXPECT_EQ(again.failed(), 0) << to_text(again);
  EXPECT_EQ(text(), after);
}

TEST_F(Script, UnexpectedFaultsFailATest) {
  const TestReport report = run(R"(mesh @m = <x=2>
host @f on @m (%a: shard<2xf32, @m, [{}]>) -> (%y: shard<2xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "main"
  %y = alloc on %s : shard<2xf32, @m, [{}]>
  where coord(x) == 0 {
    all_reduce sum %c ro(%a) wo(%y) on %s
  }
  return %y
}
test "hangs" {
  run @f(full(1.0))
}
test "hangs as it should" {
  run @f(full(1.0))
  expect_deadlock {{rank 1 never came to all_reduce}}
}
)");
  EXPECT_EQ(report.failed(), 1) << to_text(report);
  EXPECT_NE(all_failures(report).find("deadlock"), std::string::npos);
}

TEST_F(Script, AChangeIsForTheRunsOfItsTest) {
  const TestReport report = run(R"(fusion @f(%x: tensor<2xf32>) -> (%y: tensor<2xf32>) {
  %z = mul %x, 2.0
  %y = add %z, 1.0
  return %y
}
test "two lines for one" {
  change {{%y = add %z, 1.0}}
    to {{%u = add %z, 1.0}}
       {{%y = neg %u}}
  run @f("2xf32=[1 2]")
  expect_output %y == "2xf32=[-3 -5]" exact
  change {{%z = mul %x, 2.0}}
    to {{%z = mul %x, 3.0}}
  run @f("2xf32=[1 2]")
  expect_output %y == "2xf32=[-4 -7]" exact
}
test "as written" {
  run @f("2xf32=[1 2]")
  expect_output %y == "2xf32=[3 5]" exact
}
test "no such line" {
  change {{%y = add %x, 1.0}}
    to {{%y = neg %z}}
  run @f("2xf32=[1 2]")
}
test "does not parse" {
  change {{%y = add %z, 1.0}}
    to
  run @f("2xf32=[1 2]")
}
test "other parameters" {
  change {{fusion @f(%x: tensor<2xf32>) -> (%y: tensor<2xf32>) {}}
    to {{fusion @g(%x: tensor<2xf32>) -> (%y: tensor<2xf32>) {}}
  run @f("2xf32=[1 2]")
}
)");
  EXPECT_EQ(report.failed(), 3) << to_text(report);
  const std::string failures = all_failures(report);
  for (const char* part :
       {"0 places of the program have the lines to change", "unknown value \"%y\"",
        "the changed program has no function @f with 1 parameter"})
    EXPECT_NE(failures.find(part), std::string::npos) << failures;
}

TEST_F(Script, ARepeatFeedsItsOutputs) {
  const TestReport report = run(R"(mesh @m = <x=2>
fusion @double(%x: tensor<3xf32> <@m, [{x}]>) -> (%y: tensor<3xf32> <@m, [{x}]>) {
  %y = add %x, %x
  return %y
}
test "ten times" {
  %v = value "3xf32=[1 2 3]"
  repeat 10 {
    run @double(%v) feeding %v = output 1
  }
  expect_output %y == "3xf32=[1024 2048 3072]" exact
  expect_output %y rank 1 == "1xf32=[3072]" exact
}
)");
  EXPECT_EQ(report.failed(), 0) << to_text(report);
}

TEST(Change, IsOfExactlyOnePlace) {
  const ChangeStatement change{{"a", "b"}, {"c"}};
  EXPECT_EQ(changed("x\n  a\nb\ny", change).value_or(""), "x\nc\ny\n");
  for (const char* text : {"a\nb\n a\n b\n", "a\nx\nb\n"}) {
    const auto none = changed(text, change);
    ASSERT_FALSE(none) << text;
    EXPECT_EQ(none.error().diagnostics.front().id, "test_change");
  }
}

TEST(Edits, ReplaceSpansAndNothingElse) {
  EXPECT_EQ(apply_edits("abcdef", {{4, 5, "EE"}, {1, 2, ""}}), "acdEEf");
  EXPECT_EQ(apply_edits("abc", {{0, 2, "x"}, {1, 3, "y"}}), "xc");
  EXPECT_EQ(apply_edits("abc", {{2, 9, "x"}}), "abc");
}

TEST(Report, JUnitEscapesAndCounts) {
  TestReport report;
  report.cases = {{"a.hir", "t<1>", 1, {"x & \"y\"\nmore"}, 0.5}, {"a.hir", "ok", 2, {}, 0}};
  const std::string xml = to_junit(report);
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("t&lt;1&gt;"), std::string::npos);
  EXPECT_NE(xml.find("message=\"x &amp; &quot;y&quot;\""), std::string::npos) << xml;
  EXPECT_NE(to_text(report).find("1 passed, 1 failed"), std::string::npos);
}

}  // namespace
}  // namespace hostir::script
