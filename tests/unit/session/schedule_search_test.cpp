#include "interp/session/checks/schedule_search.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hostir::interp::test {
namespace {

RunResult result_of(double value) {
  RunResult out;
  NamedOutput output;
  output.name = "y";
  output.global = Tensor::zeros(DType::kF32, {1});
  output.global.set_double(0, value);
  out.outputs.push_back(std::move(output));
  return out;
}

Fault fault_of(const std::string& kind) {
  Fault out;
  out.fatal = false;
  out.record.kind = kind;
  out.record.instructions = {"@f#9", "@f#7"};
  return out;
}

ScheduleRuns numbered(std::function<RunResult(int64_t)> run) {
  ScheduleRuns out;
  out.numbered = [run = std::move(run)](int64_t k) { return Expected<RunResult>(run(k)); };
  return out;
}

TEST(ScheduleSearch, WithoutARaceNothingIsOpen) {
  const auto found =
      search_schedules(result_of(1), 4, numbered([](int64_t) { return result_of(1); }));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->open.empty());
  EXPECT_EQ(found->tried, 4);
  EXPECT_EQ(found->other_schedule, 0);
}

TEST(ScheduleSearch, NamesTheInstructionsAndTheScheduleThatDiffers) {
  RunResult first = result_of(1);
  first.faults.push_back(fault_of("leak"));
  first.faults.push_back(fault_of("race_raw"));
  const auto found =
      search_schedules(first, 9, numbered([](int64_t k) { return result_of(k < 3 ? 1 : 2); }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->open, std::vector<std::string>{"@f#9 and @f#7"});
  EXPECT_EQ(found->other_schedule, 3);
  EXPECT_EQ(found->other_output, "y");
  EXPECT_EQ(found->tried, 3) << "the search ends there";
}

TEST(ScheduleSearch, AScheduleThatFailsIsAnOther) {
  const auto found = search_schedules(result_of(1), 4, numbered([](int64_t k) {
                                        RunResult out = result_of(1);
                                        if (k == 2) out.faults.push_back(fault_of("out_of_memory"));
                                        return out;
                                      }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->other_schedule, 2);
  EXPECT_EQ(found->faults.size(), 1u);
}

TEST(ScheduleSearch, ForcesBothOrdersOfAPair) {
  RunResult first = result_of(1);
  first.faults.push_back(fault_of("race_raw"));
  first.faults.back().record.ranks = {3};
  ScheduleRuns runs = numbered([](int64_t) { return result_of(1); });
  runs.late = [](std::span<const OrderChoice> choices) {
    EXPECT_EQ(choices.front().rank, 3);
    return Expected<RunResult>(result_of(choices.front().late == "@f#7" ? 2 : 1));
  };
  const auto found = search_schedules(first, 9, runs);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->forced.size(), 2u);
  EXPECT_EQ(found->forced[0].choices.front().late, "@f#7");
  EXPECT_EQ(found->forced[0].choices.front().first, "@f#9");
  EXPECT_EQ(found->forced[0].output, "y");
  EXPECT_FALSE(found->forced[1].differs());
  EXPECT_EQ(found->tried, 1) << "one decision explains it: no other schedule is needed";
}

// Three pairs; the result changes only if the first pair has one order and the third the other.
TEST(ScheduleSearch, ACombinationLosesTheDecisionsThatItDoesNotNeed) {
  RunResult first = result_of(1);
  for (const char* at : {"@f#1", "@f#3", "@f#5"}) {
    first.faults.push_back(fault_of("race_raw"));
    first.faults.back().record.instructions = {at, std::string("@f#2").append(at + 3)};
  }
  ScheduleRuns runs = numbered([](int64_t) { return result_of(1); });
  runs.late = [](std::span<const OrderChoice> choices) {
    const auto has = [&](const char* late) {
      return std::any_of(choices.begin(), choices.end(),
                         [&](const OrderChoice& c) { return c.late == late; });
    };
    return Expected<RunResult>(result_of(has("@f#21") && has("@f#5") ? 2 : 1));
  };
  const auto found = search_schedules(first, 9, runs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->combinations, 8);
  EXPECT_EQ(found->together.output, "y");
  ASSERT_EQ(found->together.choices.size(), 2u);
  EXPECT_EQ(found->together.choices[0].late, "@f#21");
  EXPECT_EQ(found->together.choices[1].late, "@f#5");
  EXPECT_EQ(found->tried, 1);
}

TEST(ScheduleSearch, AllCombinationsAreTriedBeforeNumberedSchedules) {
  RunResult first = result_of(1);
  first.faults = {fault_of("race_raw"), fault_of("race_war")};
  ScheduleRuns runs = numbered([](int64_t) { return result_of(1); });
  runs.late = [](std::span<const OrderChoice>) { return Expected<RunResult>(result_of(1)); };
  const auto found = search_schedules(first, 9, runs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->combined, 4);
  EXPECT_EQ(found->combinations, 4);
  EXPECT_TRUE(found->together.choices.empty());
  EXPECT_EQ(found->tried, 9);
}

}  // namespace
}  // namespace hostir::interp::test
