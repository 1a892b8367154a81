#include "hostir/passes/homes/repeated_layers.h"

#include <gtest/gtest.h>

#include "hostir/text/parse/parser.h"

namespace hostir {
namespace {

using Names = std::vector<std::vector<std::string>>;

Function fusion_of(const std::string& params, const std::string& body) {
  auto program = text::parse_program("mesh @m = <tp=2>\nfusion @f(" + params +
                                     ") -> (tensor<8x8xf32>) {\n" + body + "}\n");
  EXPECT_TRUE(program) << program.error().message();
  return *program->find_function("f");
}

std::string square(const std::string& name) { return "%" + name + ": tensor<8x8xf32>"; }

// Layers with their own %w and the shared %b and %mask, and an op before and after them.
Function four_layers() {
  return fusion_of(square("x") + ", " + square("w0") + ", " + square("w1") + ", " + square("w2") +
                       ", " + square("w3") + ", " + square("b"),
                   "  %mask = tanh %b\n"
                   "  %m0 = matmul %x, %w0\n  %h0 = add %m0, %mask\n  %y0 = add %h0, %x\n"
                   "  %m1 = matmul %y0, %w1\n  %h1 = add %m1, %mask\n  %y1 = add %h1, %y0\n"
                   "  %m2 = matmul %y1, %w2\n  %h2 = add %m2, %mask\n  %y2 = add %h2, %y1\n"
                   "  %m3 = matmul %y2, %w3\n  %h3 = add %m3, %mask\n  %y3 = add %h3, %y2\n"
                   "  %out = exp %y3\n  return %out\n");
}

TEST(RepeatedLayers, OwnParametersByLayer) {
  const auto found = repeated_layers(four_layers());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 1U);
  EXPECT_EQ(found->length, 3U);
  EXPECT_EQ(found->count, 4U);
  EXPECT_EQ(found->parameters, (Names{{"w0"}, {"w1"}, {"w2"}, {"w3"}}));
}

TEST(RepeatedLayers, PassesOfALoop) {
  const std::string loop =
      "  %y = for %i in 0..?L carry(%h = %x) {\n    %w = at %ws[%i]\n    %m = matmul %h, %w\n"
      "    yield %m\n  }\n  return %y\n";
  const std::string weights = square("x") + ", %ws: tensor<?Lx8x8xf32>";
  const Function fusion = fusion_of(weights, loop);
  EXPECT_EQ(layer_size(fusion), "L");
  EXPECT_EQ(to_string(with_layers(fusion, "L", 2).values[1].type), "tensor<2x8x8xf32>");
  // ?L also counts something else, so fewer layers would be another fusion.
  EXPECT_EQ(layer_size(fusion_of(weights + ", %b: tensor<8x?Lxf32>", loop)), std::nullopt);
  EXPECT_EQ(layer_size(four_layers()), std::nullopt);
}

TEST(RepeatedLayers, FewerLayersEqualTheFusionWrittenWithThem) {
  const Function fusion = four_layers();
  const Function two = with_layers(fusion, *repeated_layers(fusion), 2);
  const Function expected =
      fusion_of(square("x") + ", " + square("w0") + ", " + square("w1") + ", " + square("b"),
                "  %mask = tanh %b\n"
                "  %m0 = matmul %x, %w0\n  %h0 = add %m0, %mask\n  %y0 = add %h0, %x\n"
                "  %m1 = matmul %y0, %w1\n  %h1 = add %m1, %mask\n  %y1 = add %h1, %y0\n"
                "  %out = exp %y1\n  return %out\n");
  EXPECT_EQ(two, expected);
  EXPECT_EQ(with_layers(fusion, *repeated_layers(fusion), 4), fusion);
}

TEST(RepeatedLayers, LayersThatReferElsewhereAreNotAlike) {
  const std::string params =
      square("x") + ", " + square("w0") + ", " + square("w1") + ", " + square("w2");
  // The last layer adds the first one's result, not that of the layer before.
  EXPECT_FALSE(repeated_layers(fusion_of(
      params,
      "  %m0 = matmul %x, %w0\n  %y0 = add %m0, %x\n  %m1 = matmul %y0, %w1\n"
      "  %y1 = add %m1, %y0\n  %m2 = matmul %y1, %w2\n  %y2 = add %m2, %y0\n  return %y2\n")));
  // A result of the first layer is used after the last one.
  EXPECT_FALSE(repeated_layers(fusion_of(
      params,
      "  %m0 = matmul %x, %w0\n  %y0 = tanh %m0\n  %m1 = matmul %y0, %w1\n  %y1 = tanh %m1\n"
      "  %m2 = matmul %y1, %w2\n  %y2 = tanh %m2\n  %out = sub %y2, %y0\n  return %out\n")));
}

TEST(RepeatedLayers, ShardingsOfOwnParametersCount) {
  const std::string body =
      "  %a = matmul %x, %w0\n  %b = matmul %a, %w1\n  %c = matmul %b, %w2\n  return %c\n";
  const std::string x = square("x") + " <@m, [{tp}, {}]>, ";  // the layers' input is no layer's own
  EXPECT_TRUE(repeated_layers(
      fusion_of(x + square("w0") + ", " + square("w1") + ", " + square("w2"), body)));
  EXPECT_FALSE(repeated_layers(fusion_of(
      x + square("w0") + ", " + square("w1") + " <@m, [{}, {tp}]>, " + square("w2"), body)));
}

TEST(RepeatedLayers, TwoLayersAreNotEnough) {
  EXPECT_FALSE(repeated_layers(fusion_of(square("x") + ", " + square("w"),
                                         "  %a = matmul %x, %w\n  %b = tanh %a\n"
                                         "  %c = matmul %b, %w\n  %d = tanh %c\n  return %d\n")));
}

}  // namespace
}  // namespace hostir
