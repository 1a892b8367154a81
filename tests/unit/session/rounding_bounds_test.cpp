// How much the tolerance of the check against the unsharded run grows, and where it does not.
#include "interp/session/checks/rounding_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hostir/text/parse/parser.h"

namespace hostir::interp {
namespace {

Tensor filled(double value) {
  Tensor t = Tensor::zeros(DType::kF32, {2, 2});
  t.set_double(3, value);
  return t;
}

// The scales of all values of a fusion, computed from the values that are known.
std::map<std::string, double> scales(const std::string& text,
                                     const std::map<std::string, double>& known) {
  const auto program = text::parse_program(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  if (!program) return {};
  const Function& f = *program->main_function();
  RoundingBounds roundings(f);
  std::map<std::string, double> out;
  const auto visit = [&](ValueId v) {
    const auto value = known.find(f.value(v).name);
    if (value != known.end()) roundings.set_known(v, filled(value->second));
    out[f.value(v).name] = roundings.scale(v);
  };
  for (const Parameter& p : f.params) visit(p.value);
  for (const InstrId id : f.preorder()) {
    roundings.add(f.instr(id));
    for (const ValueId v : f.instr(id).results) visit(v);
  }
  return out;
}

constexpr const char* kHead =
    "fusion @f(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %m: tensor<2x2xf32>) -> "
    "(%y: tensor<2x2xf32>) {\n  %p = matmul %x, %w\n";

TEST(RoundingBounds, ProductsHaveTheScaleOfTheirAddends) {
  const auto s = scales(std::string(kHead) + "  %q = neg %p\n  %y = add %p, %q\n  return %y\n}",
                        {{"x", 100}, {"w", 3}, {"m", 1}, {"p", 5}, {"y", 0}});
  EXPECT_EQ(s.at("p"), 300);  // 100 * 3 - 100 * 2.95 leaves 5
  EXPECT_EQ(s.at("y"), 300);
}

TEST(RoundingBounds, ValuesAreTheirOwnScaleWithoutCancellation) {
  const auto s = scales(std::string(kHead) + "  %t = tanh %p\n  %y = mul %t, %m\n  return %y\n}",
                        {{"x", 2}, {"w", 3}, {"m", 4}, {"p", 6}, {"t", 1}, {"y", 4}});
  EXPECT_EQ(s.at("p"), 6);
  EXPECT_EQ(s.at("t"), 1);
  EXPECT_EQ(s.at("y"), 4);
}

// Independent roundings add up by their squares: 16 sums of 4096 addends in f32.
TEST(RoundingBounds, LongSumsOneAfterTheOtherDifferByMoreThanOne) {
  std::string text =
      "fusion @f(%x0: tensor<1x4096xf32>, %w: tensor<4096x4096xf32>) -> (%x16: tensor<1x4096xf32>) "
      "{\n";
  std::map<std::string, double> known = {{"x0", 1}, {"w", 1}};
  for (int n = 1; n <= 16; ++n) {
    text += "  %x" + std::to_string(n) + " = matmul %x" + std::to_string(n - 1) + ", %w\n";
    known["x" + std::to_string(n)] = 1;
  }
  const auto s = scales(text + "  return %x16\n}", known);
  const double one = 2 * std::ldexp(1, -24) * std::sqrt(4096) / 2e-6;
  EXPECT_NEAR(s.at("x1"), one, 1e-6);
  EXPECT_NEAR(s.at("x16"), 4 * one, 1e-6);
}

// After a mask, a slice or a softmax may select numbers of the usual size: those are checked again.
TEST(RoundingBounds, OtherOpsAreStillChecked) {
  const std::string masked = std::string(kHead) + "  %s = add %p, %m\n";
  const std::map<std::string, double> known = {{"x", 2}, {"w", 3},     {"m", -1e30},
                                               {"p", 6}, {"s", -1e30}, {"y", 1}};
  const double most = RoundingBounds::kMostRelative / 2e-6;
  const auto sliced =
      scales(masked + "  %y = transpose %s {permutation = [1, 0]}\n  return %y\n}", known);
  EXPECT_DOUBLE_EQ(sliced.at("y"), most);
  const auto soft = scales(masked + "  %y = softmax %s\n  return %y\n}", known);
  EXPECT_EQ(soft.at("y"), 1);
}

}  // namespace
}  // namespace hostir::interp
