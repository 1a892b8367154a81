// Comparing runs: alignment of instructions, numbers of two tensors, what they amount to.
#include "interp/session/run_diff.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hostir::interp {
namespace {

std::vector<LogInstruction> program(const std::vector<std::string>& texts) {
  std::vector<LogInstruction> out;
  for (const std::string& text : texts) {
    LogInstruction i;
    i.address = "@f#" + std::to_string(out.size());
    i.text = text;
    i.mnemonic = text.substr(0, text.find(' '));
    out.push_back(i);
  }
  return out;
}

using Aligned = std::vector<CodeIndex>;

TEST(AlignInstructions, EqualProgramsAreAlignedOneByOne) {
  const auto a = program({"alloc %a", "launch %a", "free %a"});
  EXPECT_EQ(align_instructions(a, a), (Aligned{0, 1, 2}));
}

TEST(AlignInstructions, WhatWasInsertedOrRemovedDoesNotShiftTheRest) {
  const auto a = program({"alloc %a", "launch %a", "wait %e", "free %a"});
  const auto b = program({"alloc %a", "alloc %b", "launch %a", "free %a"});
  EXPECT_EQ(align_instructions(a, b), (Aligned{0, kNoInstruction, 1, 3}));
}

TEST(AlignInstructions, AChangedInstructionIsTheSameInstruction) {
  const auto a = program({"alloc %a 8", "launch %a", "free %a"});
  const auto b = program({"alloc %a 4", "launch %a", "free %a"});
  EXPECT_EQ(align_instructions(a, b), (Aligned{0, 1, 2}));
}

TEST(AlignInstructions, RepeatedLinesAndNothingAreNoTrouble) {
  const auto a = program({"wait %e", "wait %e", "wait %e", "return"});
  const auto b = program({"wait %e", "return"});
  EXPECT_EQ(align_instructions(a, b), (Aligned{0, 3}));
  EXPECT_TRUE(align_instructions(a, {}).empty());
  EXPECT_EQ(align_instructions({}, b), (Aligned{kNoInstruction, kNoInstruction}));
}

Tensor values(DType dtype, const std::vector<double>& numbers) {
  Tensor t = Tensor::zeros(dtype, {static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i) t.set_double(static_cast<int64_t>(i), numbers[i]);
  return t;
}

TEST(Measure, CountsDistancesAndTheFirstIndex) {
  const double next = std::nextafter(1.0f, 2.0f);
  const WriteDifference d =
      measure(values(DType::kF32, {0, 1, 4}), values(DType::kF32, {0, next, 2}));
  EXPECT_EQ(d.elements, 3);
  EXPECT_EQ(d.differing, 2);
  EXPECT_EQ(d.first, 1);
  EXPECT_EQ(d.worst, 2);
  EXPECT_EQ(d.max_abs, 2);
  EXPECT_EQ(d.max_rel, 1);
  EXPECT_EQ(d.max_ulp, 1 << 23);
  EXPECT_EQ(d.scale, 2);
  EXPECT_EQ(d.by_ulp[0], 1);
  EXPECT_EQ(d.by_ulp[5], 1);
  EXPECT_EQ(judge(d, {}), WriteOutcome::kOver);
}

TEST(Measure, NaNsAndZerosThatAreTheSameDoNotDiffer) {
  const double nan = std::nan("");
  const WriteDifference d =
      measure(values(DType::kF32, {nan, 0.0}), values(DType::kF32, {nan, -0.0}));
  EXPECT_EQ(d.differing, 0);
  EXPECT_NE(describe(d).find("signs of zero"), std::string::npos);
  EXPECT_EQ(judge(d, {.ulp = 0, .relative = 0}), WriteOutcome::kWithinUlp);
}

TEST(Measure, NaNOrInfInOneRunIsOverAnyTolerance) {
  const WriteDifference nan =
      measure(values(DType::kF32, {std::nan("")}), values(DType::kF32, {1}));
  EXPECT_EQ(nan.differing, 1);
  EXPECT_EQ(judge(nan, {.ulp = 100, .relative = 1e9}), WriteOutcome::kOver);
  const WriteDifference inf = measure(values(DType::kF32, {INFINITY}), values(DType::kF32, {1}));
  EXPECT_EQ(judge(inf, {.ulp = 100, .relative = 1e9}), WriteOutcome::kOver);
}

TEST(Measure, LargeIntegersAreComparedExactly) {
  Tensor a = Tensor::zeros(DType::kI64, {1});
  Tensor b = a;
  a.set_int(0, (int64_t{1} << 60) + 1);
  b.set_int(0, int64_t{1} << 60);
  const WriteDifference d = measure(a, b);
  EXPECT_EQ(d.differing, 1);
  EXPECT_EQ(d.max_ulp, 1);
}

TEST(Judge, LimitsGoFromUlpToToleranceToOver) {
  WriteDifference d = measure(values(DType::kF32, {1e-6, 100}), values(DType::kF32, {2e-6, 100}));
  EXPECT_EQ(judge(d, {.ulp = 4, .relative = 1e-5}), WriteOutcome::kWithinTolerance);
  EXPECT_EQ(judge(d, {.ulp = 4, .relative = 1e-9}), WriteOutcome::kOver);
  EXPECT_EQ(judge(d, {.ulp = int64_t{1} << 40, .relative = 0}), WriteOutcome::kWithinUlp);
  EXPECT_FALSE(is_divergent(WriteOutcome::kWithinTolerance));
  EXPECT_FALSE(is_divergent(WriteOutcome::kNotReached));
  EXPECT_TRUE(is_divergent(WriteOutcome::kOnlyB));
}

}  // namespace
}  // namespace hostir::interp
