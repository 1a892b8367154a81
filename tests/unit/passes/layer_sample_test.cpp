#include "hostir/passes/homes/layer_sample.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hostir/ops/differentiate.h"
#include "hostir/ops/unroll_loops.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir {
namespace {

// y = tanh(y @ w_i) + y for each layer, and the gradient of the last y.
Function gradient_of_layers(size_t layers) {
  std::string params = "%x: tensor<8x8xf32>";
  std::string body;
  std::string y = "%x";
  for (size_t i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    params += ", %w" + n + ": tensor<8x8xf32> <@m, [{tp}, {}]>";
    body += "  %m" + n + " = matmul " + y + ", %w" + n + "\n  %t" + n + " = tanh %m" + n +
            "\n  %y" + n + " = add %t" + n + ", " + y + "\n";
    y = "%y" + n;
  }
  const auto program =
      text::parse_program("mesh @m = <tp=2>\nfusion @f(" + params + ") -> (tensor<8x8xf32>) {\n" +
                          body + "  return " + y + "\n}\n");
  EXPECT_TRUE(program) << program.error().message();
  return *differentiate(*program, program->functions.front(), "f.grad");
}

TEST(LayerSample, OfAGradientIsTheGradientOfFewerLayers) {
  const Function whole = gradient_of_layers(12);
  const auto sample = sample_of_layers(whole);
  ASSERT_TRUE(sample);
  const Function& f = sample->function;
  std::vector<size_t> sizes;
  for (const size_t layers : {2U, 3U, 4U})
    sizes.push_back(body_of(gradient_of_layers(layers)).size());
  EXPECT_TRUE(std::count(sizes.begin(), sizes.end(), body_of(f).size())) << body_of(f).size();
  Program program;
  program.add_mesh(Mesh{"m", {{"tp", 2}}, {}});
  program.add_function(f);
  const auto parsed = text::parse_program(text::print(program));
  EXPECT_TRUE(parsed) << parsed.error().message() << "\n" << text::print(program);
}

// y = tanh(y @ w[i]) + y in a loop, and its gradient, written out: the passes read parts of one
// stack, and the weights' gradients are stacked.
Function gradient_of_loop(int layers) {
  const std::string n = std::to_string(layers);
  const auto program = text::parse_program(
      "mesh @m = <tp=2>\nfusion @f(%x: tensor<8x8xf32>, %w: tensor<" + n +
      "x8x8xf32>) -> (tensor<8x8xf32>) {\n  %y = for %i in 0.." + n +
      " carry(%h = %x) {\n    %wi = at %w[%i]\n    %m = matmul %h, %wi\n    %t = tanh %m\n"
      "    %n = add %t, %h\n    yield %n\n  }\n  return %y\n}\n");
  EXPECT_TRUE(program) << program.error().message();
  return unroll_loops(*differentiate(*program, program->functions.front(), "f.grad"))->function;
}

TEST(LayerSample, OfALoopsGradientHasFewerPasses) {
  const Function whole = gradient_of_loop(24);
  const auto sample = sample_of_layers(whole);
  ASSERT_TRUE(sample);
  const size_t ops = body_of(sample->function).size();
  // Besides the layers, a reshape of each gradient may remain for the stack.
  EXPECT_LE(ops, body_of(gradient_of_loop(4)).size() + 24) << body_of(whole).size();
  Program program;
  program.add_mesh(Mesh{"m", {{"tp", 2}}, {}});
  program.add_function(sample->function);
  const auto parsed = text::parse_program(text::print(program));
  EXPECT_TRUE(parsed) << parsed.error().message() << "\n" << text::print(program);
}

TEST(LayerSample, KnowsItsTensorsInTheWholeFusion) {
  const Function whole = gradient_of_layers(12);
  const auto sample = sample_of_layers(whole);
  ASSERT_TRUE(sample);
  const Function& f = sample->function;
  ASSERT_EQ(sample->tensor_of.size(), whole.values.size() + whole.results.size());
  size_t there = 0;
  for (size_t t = 0; t < sample->tensor_of.size(); ++t) {
    const size_t same = sample->tensor_of[t];
    if (same == LayerSample::kNotThere) continue;
    ++there;
    if (t < whole.values.size())
      EXPECT_EQ(f.values[same].name, whole.values[t].name);
    else
      EXPECT_EQ(f.results[same - f.values.size()].name,
                whole.results[t - whole.values.size()].name);
  }
  EXPECT_EQ(there, f.values.size() + f.results.size());
}

// A sum of all layers' values has no counterpart in fewer of them.
TEST(LayerSample, WhatUsesEveryLayerCannotBeJoined) {
  std::string body = "  %y0 = tanh %x\n";
  for (int i = 1; i < 31; ++i)
    body += "  %y" + std::to_string(i) + " = tanh %y" + std::to_string(i - 1) + "\n";
  body += "  %a = mul %y15, %y30\n  %b = neg %a\n  return %b\n";
  const auto program = text::parse_program(
      "mesh @m = <tp=2>\nfusion @f(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>) {\n" + body + "}\n");
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_FALSE(sample_of_layers(program->functions.front()));
}

}  // namespace
}  // namespace hostir
