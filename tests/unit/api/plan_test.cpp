#include "hostir/api/plan.h"

#include <gtest/gtest.h>

#include <array>

#include "hostir/ops/differentiate.h"
#include "hostir/text/parser.h"

namespace hostir::api {
namespace {

constexpr std::string_view kMlp = R"(
mesh @m = <tp=4>
fusion @f(%x: tensor<128x512xf32> <@m, [{}, {}]>, %w1: tensor<512x2048xf32> <@m, [{}, {tp}]>,
          %w2: tensor<2048x512xf32> <@m, [{tp}, {}]>) -> (%y: tensor<128x512xf32> <@m, [{tp}, {}]>) {
  %h = matmul %x, %w1
  %g = relu %h
  %y = matmul %g, %w2
  return %y
})";

Program parsed(std::string_view text) {
  auto program = text::parse_program(std::string(text));
  EXPECT_TRUE(program) << program.error().message();
  return std::move(*program);
}

interp::BackendRequest on_h200x8() {
  interp::BackendRequest request;
  request.name = "shapes";
  request.machine = *find_builtin_machine("h200x8");
  return request;
}

Plan plan_of(int64_t time_ns, int64_t peak_bytes, bool fits = true) {
  Plan plan;
  plan.time_ns = time_ns;
  plan.peak_bytes = peak_bytes;
  plan.fits = fits;
  return plan;
}

size_t preferred(const std::vector<Plan>& plans) {
  std::vector<const Plan*> all;
  for (const Plan& plan : plans) all.push_back(&plan);
  return preferred_plan(all);
}

TEST(PreferredPlan, LessMemoryWinsAmongEqualTimesOnly) {
  EXPECT_EQ(preferred({plan_of(10000, 50), plan_of(10009, 40), plan_of(10500, 1)}), 1U);
  EXPECT_EQ(preferred({plan_of(10000, 50), plan_of(9000, 70)}), 1U);
}

TEST(PreferredPlan, SmallStepsDoNotAddUp) {
  std::vector<Plan> plans;
  for (int64_t i = 0; i < 40; ++i) plans.push_back(plan_of(1'000'000 + i * 900, 1000 - i));
  EXPECT_EQ(preferred(plans), 1U) << "0.09 % slower than the fastest; the next is 0.18 %";
}

TEST(PreferredPlan, WhatFitsComesFirst) {
  EXPECT_EQ(preferred({plan_of(10, 500, false), plan_of(90, 100), plan_of(95, 90)}), 1U);
  EXPECT_EQ(preferred({plan_of(10, 500, false), plan_of(90, 400, false)}), 1U);
}

// On uneven cuts too: rank 0 has the largest part.
TEST(Prediction, OneRankStandsForAll) {
  for (const int64_t ranks : {1, 2, 3, 4, 7}) {
    Program program = parsed(kMlp);
    program.meshes.front().axes.front().size = ranks;
    program.add_function(*differentiate(program, *program.find_function("f"), "f.grad"));
    for (const std::string name : {"f", "f.grad"}) {
      Predictor one(on_h200x8(), {}, Predictor::Ranks::kOneForAll);
      Predictor all(on_h200x8(), {}, Predictor::Ranks::kAll);
      const Prediction fast = one.predict(program, name).value();
      const Prediction slow = all.predict(program, name).value();
      EXPECT_EQ(fast.time_ns, slow.time_ns) << name << " on " << ranks;
      EXPECT_EQ(fast.peak_bytes, slow.peak_bytes) << name << " on " << ranks;
      EXPECT_EQ(fast.shardings, slow.shardings);
    }
  }
}

std::string layers_text(int count) {
  std::string params = "%x: tensor<64x256xf32> <@m, [{}, {}]>";
  std::string body;
  std::string x = "x";
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    params += ", %up" + n + ": tensor<256x1024xf32>, %down" + n + ": tensor<1024x256xf32>";
    body += "  %h" + n + " = matmul %" + x + ", %up" + n + "\n  %g" + n + " = relu %h" + n +
            "\n  %d" + n + " = matmul %g" + n + ", %down" + n + "\n  %y" + n + " = add %" + x +
            ", %d" + n + "\n";
    x = "y" + n;
  }
  return "mesh @m = <tp=2>\nfusion @f(" + params +
         ") -> (%y: tensor<64x256xf32> <@m, [{}, {}]>) {\n" + body + "  return %" + x + "\n}\n";
}

Plans plans_for(const Program& program, const std::string& function, std::string gradient_of) {
  RunArguments arguments;
  arguments.program = &program;
  arguments.options.function = function;
  auto found = find_plans({.arguments = arguments,
                           .backend = on_h200x8(),
                           .gradient_of = std::move(gradient_of),
                           .ranks = 2,
                           .fixed = {"x", "y"}});
  EXPECT_TRUE(found) << found.error().message();
  return std::move(*found);
}

TEST(FindPlans, EqualLayersAreCutAlike) {
  const Program program = parsed(layers_text(12));
  const Plans plans = plans_for(program, "f", "");
  EXPECT_EQ(plans.layers, 12U);
  const Plan& best = plans.found.front();
  EXPECT_TRUE(best.exact);
  std::vector<std::string> up;
  for (const auto& [name, sharding] : best.shardings) {
    if (name.starts_with("up")) up.push_back(sharding.dims_to_string());
  }
  EXPECT_EQ(up, std::vector<std::string>(12, up.front()));
  for (const PlanCut& cut : best.cuts)
    EXPECT_TRUE(cut.value == "up0" || cut.value == "down0") << cut_text(cut);
}

// What a plan says about a parameter: %up0 stands for all %up.
Sharding open_and_cut(const std::string& name, const TensorType& type,
                      const std::vector<PlanCut>& cuts) {
  Sharding sharding = Sharding::replicated("m", type.shape.size());
  for (DimSharding& dim : sharding.dims) dim.open = true;
  for (const PlanCut& cut : cuts) {
    const std::string stem = cut.value.substr(0, cut.value.find('0'));
    if (name == cut.value || (stem != cut.value && name.starts_with(stem)))
      sharding.dims[cut.dim].axes.push_back({cut.axis});
  }
  return sharding;
}

TEST(FindPlans, FewLayersPredictAll) {
  Program program = parsed(layers_text(12));
  program.add_function(*differentiate(program, *program.find_function("f"), "f.grad"));
  for (const std::string name : {"f", "f.grad"}) {
    const Plans plans = plans_for(program, name, name == "f" ? "" : "f");
    EXPECT_EQ(plans.layers, 12U);
    size_t compared = 0;
    for (const Plan& plan : plans.found) {
      if (plan.exact || ++compared > 3) continue;
      Program cut = program;
      Function& f = *cut.find_function(name);
      for (const Parameter& p : f.params) {
        const std::string& value = f.value(p.value).name;
        auto& type = std::get<TensorType>(f.value(p.value).type);
        if (value != "x") type.sharding = open_and_cut(value, type, plan.cuts);
      }
      for (ResultDecl& r : f.results) {
        auto& type = std::get<TensorType>(r.type);
        if (r.name != "y") type.sharding = open_and_cut(r.name, type, {});
      }
      cut.meshes.front().axes = plan.axes;
      const Prediction all = Predictor(on_h200x8(), {}).predict(cut, name).value();
      EXPECT_NEAR(static_cast<double>(plan.time_ns), static_cast<double>(all.time_ns),
                  0.02 * static_cast<double>(all.time_ns));
      // With few layers the peak may lie elsewhere.
      EXPECT_NEAR(static_cast<double>(plan.peak_bytes), static_cast<double>(all.peak_bytes),
                  0.05 * static_cast<double>(all.peak_bytes));
    }
    EXPECT_GT(compared, 0U);
  }
}

TEST(FindPlans, AHostFunctionIsRefused) {
  const Program program = parsed(
      "mesh @m = <tp=2>\nhost @h on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {\n"
      "  return %a\n}\n");
  RunArguments arguments;
  arguments.program = &program;
  arguments.options.function = "h";
  const auto found = find_plans({.arguments = arguments, .backend = on_h200x8(), .ranks = 2});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message(),
            "@h is a host function: its shardings are written, not chosen");
}

}  // namespace
}  // namespace hostir::api
