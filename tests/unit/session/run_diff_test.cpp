// Comparing runs: alignment of instructions, numeric differences of two tensors, and their verdict.
#include "interp/session/diff/run_diff.h"

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
  EXPECT_EQ(d.max_ulp, 1u << 23);
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

TEST(Measure, InfIsNotWithinLimitsOfTheLargestFiniteNumber) {
  const std::pair<DType, double> largest[] = {
      {DType::kF16, 65504.0}, {DType::kBF16, 0x1.FEp127}, {DType::kF32, 0x1.FFFFFEp127}};
  for (const auto& [dtype, finite] : largest) {
    const WriteDifference d = measure(values(dtype, {1, finite}), values(dtype, {1, INFINITY}));
    EXPECT_EQ(d.max_ulp, 1u) << name(dtype);
    EXPECT_EQ(d.not_finite, 1) << name(dtype);
    EXPECT_EQ(judge(d, {}), WriteOutcome::kOver) << name(dtype);
    EXPECT_EQ(judge(measure(values(dtype, {INFINITY}), values(dtype, {finite})), {}),
              WriteOutcome::kOver);
    EXPECT_EQ(judge(measure(values(dtype, {INFINITY}), values(dtype, {INFINITY})), {}),
              WriteOutcome::kWithinUlp);
  }
}

TEST(Measure, FarApartIsNotNaN) {
  const WriteDifference far = measure(values(DType::kF64, {2}), values(DType::kF64, {-2}));
  EXPECT_EQ(far.nan_in_one, 0);
  EXPECT_EQ(far.max_ulp, uint64_t{1} << 63);
  EXPECT_NE(describe(far).find("at most > 9e18 ulp, |a - b| <= 4"), std::string::npos)
      << describe(far);
  const WriteDifference nan =
      measure(values(DType::kF64, {2, 2}), values(DType::kF64, {-2, std::nan("")}));
  EXPECT_EQ(nan.nan_in_one, 1);
  EXPECT_EQ(nan.worst, 1);
  EXPECT_NE(describe(nan).find("1 of them NaN in one run only"), std::string::npos);
  const WriteDifference signs =
      measure(values(DType::kF32, {INFINITY}), values(DType::kF32, {-INFINITY}));
  EXPECT_EQ(describe(signs).find("one run only"), std::string::npos) << describe(signs);
  EXPECT_EQ(judge(signs, {}), WriteOutcome::kOver);
}

TEST(Measure, LargeIntegersAreComparedExactly) {
  Tensor a = Tensor::zeros(DType::kI64, {1});
  Tensor b = a;
  a.set_int(0, (int64_t{1} << 60) + 1);
  b.set_int(0, int64_t{1} << 60);
  const WriteDifference d = measure(a, b);
  EXPECT_EQ(d.differing, 1);
  EXPECT_EQ(d.max_ulp, 1u);
  EXPECT_EQ(d.max_abs, 1) << "as doubles they are equal";
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
