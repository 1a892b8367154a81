// Lowering takes time in proportion to the length of the fusion.
#include <gtest/gtest.h>

#include <chrono>

#include "hostir/passes/lower.h"
#include "hostir/text/parser.h"

namespace hostir {
namespace {

// Pairs of a product and a tanh, the weights cut by columns and by rows in turn: two kernels, an
// all_reduce or an all_gather, allocs, waits and frees for each.
Program chain(int pairs) {
  std::string text =
      "mesh @m = <tp=2>\n"
      "fusion @f(%x: tensor<4x8xf32> <@m, [{}, {}]>, %w0: tensor<8x8xf32> <@m, [{}, {tp}]>,\n"
      "          %w1: tensor<8x8xf32> <@m, [{tp}, {}]>) -> (tensor<4x8xf32>) {\n";
  std::string value = "x";
  for (int i = 0; i < pairs; ++i) {
    const std::string n = std::to_string(i);
    text += "  %a" + n + " = matmul %" + value + ", %w" + std::to_string(i % 2) + "\n";
    text += "  %b" + n + " = tanh %a" + n + "\n";
    value = "b" + n;
  }
  text += "  return %" + value + "\n}\n";
  auto program = text::parse_program(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  return program ? *program : Program{};
}

double seconds_to_lower(int pairs) {
  const Program program = chain(pairs);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto lowered = lower(program, "f");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(lowered) << (lowered ? "" : lowered.error().message());
    best = std::min(best, took.count());
  }
  return best;
}

// 4 would be exactly linear, 16 quadratic.
TEST(Scale, LoweringFourTimesAsMuchTakesLessThanTenTimesAsLong) {
  EXPECT_LT(seconds_to_lower(800), 10 * seconds_to_lower(200));
}

}  // namespace
}  // namespace hostir
