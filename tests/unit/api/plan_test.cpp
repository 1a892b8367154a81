#include "hostir/api/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "hostir/api/plan/plan_layers.h"
#include "hostir/api/plan/plan_order.h"
#include "hostir/ops/differentiate.h"
#include "hostir/text/parse/parser.h"

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

Plan expected_plan(int64_t time_ns, int64_t peak_bytes, bool fits = true) {
  Plan plan = plan_of(time_ns, peak_bytes, fits);
  plan.exact = false;
  return plan;
}

TEST(NextToPredict, APlanThatDoesNotFitWinsOnlyIfNothingElseIsExpectedTo) {
  std::vector<Plan> plans = {expected_plan(10, 90), expected_plan(50, 99), plan_of(9, 120, false)};
  EXPECT_EQ(next_to_predict(plans, 0), 0U);
  EXPECT_EQ(next_to_predict(plans, 4), 0U) << "the limit does not make 120 fit";
  plans[1].as_written = true;
  EXPECT_EQ(next_to_predict(plans, 4), 1U) << "the file's own comes before the fifth";
  plans[1].exact = true;
  EXPECT_EQ(next_to_predict(plans, 5), 1U) << "now it is known to fit";
  plans[1] = expected_plan(50, 130, false);
  plans[1].as_written = true;
  std::swap(plans[1], plans[2]);
  EXPECT_EQ(next_to_predict(plans, 8), 1U) << "expected to be worse than what is known";
}

TEST(NextToPredict, OfPlansThatFitAFewAreEnough) {
  const std::vector<Plan> plans = {expected_plan(10, 90), plan_of(20, 90)};
  EXPECT_EQ(next_to_predict(plans, 3), 0U);
  EXPECT_EQ(next_to_predict(plans, 4), 1U);
}

TEST(OverestimatedPlan, NeighboursAreExpectedToDisappointAsWell) {
  const OverestimatedPlan d = overestimate(expected_plan(1000, 100'000), plan_of(1000, 250'000));
  Plan neighbour = expected_plan(1300, 101'000);
  expect_alike(neighbour, d, 200'000);
  EXPECT_FALSE(neighbour.fits);
  EXPECT_EQ(neighbour.peak_bytes, 252'500);
  EXPECT_EQ(neighbour.time_ns, 1300);
  Plan other = expected_plan(1000, 120'000);
  expect_alike(other, d, 200'000);
  EXPECT_TRUE(other.fits);
  EXPECT_EQ(other.peak_bytes, 120'000);
  Plan elsewhere = expected_plan(1000, 100'000);
  elsewhere.axes = {{"tp", 2}};
  expect_alike(elsewhere, d, 200'000);
  EXPECT_EQ(elsewhere.peak_bytes, 100'000);
}

// A rank's memory: much for a moment at the start; at the loss, a little for each layer. Only the
// start, the loss and the end are the same with more layers, and the start is longer than the loss.
std::vector<int64_t> memory_of(int64_t layers) {
  std::vector<int64_t> out;
  int64_t held = 0;
  const auto hold = [&](int64_t change) { out.push_back(held += change); };
  const auto steps = [&](int64_t first, int64_t kept) {
    for (int64_t i = 0; i < 20; ++i) hold(first + i);
    for (int64_t i = 0; i < 20; ++i) hold(-first - i);
    hold(kept);
  };
  hold(5'000'000);
  hold(-5'000'000);
  for (int64_t i = 0; i < layers; ++i) steps(50 * i, 20'000);
  steps(200'000, 0);
  for (int64_t i = layers; i-- > 0;) steps(50 * i, -20'000);
  return out;
}

TEST(Extrapolation, TheMomentThatGrowsIsFoundBelowThePeak) {
  const auto predict = [](int64_t layers) {
    Prediction out;
    out.live_bytes = memory_of(layers);
    out.peak_bytes = *std::max_element(out.live_bytes.begin(), out.live_bytes.end());
    return out;
  };
  ASSERT_EQ(predict(4).peak_bytes, predict(8).peak_bytes);
  EXPECT_EQ(extrapolated(predict(4), predict(8), {4, 8, 80}).peak_bytes, predict(80).peak_bytes);
}

Prediction predicted(const Program& program, const std::string& name,
                     PredictorOptions::Ranks ranks = PredictorOptions::Ranks::kOneForAll) {
  KnownPredictions none;
  Predictor predictor({.request = on_h200x8(), .sizes = {}, .ranks = ranks}, none);
  return predictor.predict(program, name, Predictor::Explain::kNo).value();
}

// On uneven cuts too: rank 0 has the largest part.
TEST(Prediction, OneRankStandsForAll) {
  for (const int64_t ranks : {1, 2, 3, 4, 7}) {
    Program program = parsed(kMlp);
    program.meshes.front().axes.front().size = ranks;
    program.add_function(*differentiate(program, *program.find_function("f"), "f.grad"));
    for (const std::string name : {"f", "f.grad"}) {
      using Ranks = PredictorOptions::Ranks;
      const Prediction fast = predicted(program, name, Ranks::kOneForAll);
      const Prediction slow = predicted(program, name, Ranks::kAll);
      EXPECT_EQ(fast.time_ns, slow.time_ns) << name << " on " << ranks;
      EXPECT_EQ(fast.peak_bytes, slow.peak_bytes) << name << " on " << ranks;
      EXPECT_EQ(fast.shardings, slow.shardings);
      EXPECT_EQ(fast.memory.total(), fast.peak_bytes) << name << " on " << ranks;
    }
  }
}

TEST(Prediction, MemoryAndTimeAreSplit) {
  Program program = parsed(kMlp);  // on 4 ranks, which cut both weights
  program.add_function(
      *differentiate(program, *program.find_function("f"), "f.grad", {"w1", "w2"}));
  KnownPredictions known;
  Predictor predictor({.request = on_h200x8(), .optimizer_numbers = 2}, known);
  const Prediction p = predictor.predict(program, "f.grad", Predictor::Explain::kNo).value();
  constexpr int64_t kWeights = 2 * 512 * 2048 * 4 / 4;
  EXPECT_EQ(p.memory.parameters, kWeights);
  EXPECT_EQ(p.memory.optimizer, 2 * kWeights);
  EXPECT_GE(p.memory.gradients, kWeights / 2);
  EXPECT_LE(p.memory.gradients, kWeights);
  EXPECT_GE(p.memory.inputs, 128 * 512 * 4);
  EXPECT_EQ(p.memory.total(), p.peak_bytes);
  EXPECT_GT(p.times.compute_ns, 0);
  ASSERT_TRUE(p.times.collectives_ns.contains("{tp}"));
  EXPECT_LE(p.times.compute_ns, p.time_ns);
  EXPECT_LE(p.times.collectives_ns.at("{tp}"), p.time_ns);

  KnownPredictions of_forward;
  Predictor forward({.request = on_h200x8()}, of_forward);
  const Prediction f = forward.predict(program, "f", Predictor::Explain::kNo).value();
  EXPECT_EQ(f.memory.parameters, kWeights + 128 * 512 * 4);  // without gradients: all of them
  EXPECT_EQ(f.memory.inputs + f.memory.gradients + f.memory.optimizer, 0);
}

// Cuts that propagate to the same shardings are predicted once.
TEST(Prediction, KnownShardingsGiveTheSamePrediction) {
  KnownPredictions known;
  Predictor predictor({.request = on_h200x8()}, known);
  for (const size_t cut : {0U, 1U, 2U, 0U, 1U}) {
    Program program = parsed(kMlp);
    Function& f = program.functions.front();
    for (size_t p = 0; p < f.params.size(); ++p) {
      auto& type = std::get<TensorType>(f.value(f.params[p].value).type);
      for (DimSharding& dim : type.sharding->dims) dim = {{}, true};
      if (p == cut) type.sharding->dims[p == 2 ? 0 : 1].axes = {{"tp"}};
    }
    const Prediction again = predictor.predict(program, "f", Predictor::Explain::kNo).value();
    const Prediction fresh = predicted(program, "f");
    EXPECT_EQ(again.time_ns, fresh.time_ns) << cut;
    EXPECT_EQ(again.peak_bytes, fresh.peak_bytes) << cut;
    EXPECT_EQ(again.shardings, fresh.shardings) << cut;
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

// The meshes of the plans that are not the file's own.
std::set<std::string> searched(const Plans& plans) {
  std::set<std::string> out;
  for (const Plan& plan : plans.found) {
    if (!plan.as_written) out.insert(axes_text(plan.axes));
  }
  return out;
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
  for (const Plan& plan : plans.found) {
    for (const PlanCut& cut : plan.cuts)
      EXPECT_TRUE(cut.value == "up0" || cut.value == "down0") << cut_text(cut);
  }
}

TEST(FindPlans, OnlyNamedMeshesAreTried) {
  const Program program = parsed(kMlp);
  RunArguments arguments;
  arguments.program = &program;
  arguments.options.function = "f";
  const auto found = find_plans({.arguments = arguments,
                                 .backend = on_h200x8(),
                                 .ranks = 8,
                                 .meshes = {{{"dp", 2}, {"tp", 4}}, {{"dp", 8}}}});
  ASSERT_TRUE(found) << found.error().message();
  std::set<std::string> meshes;
  for (const Plan& plan : found->found) meshes.insert(axes_text(plan.axes));
  EXPECT_EQ(meshes, (std::set<std::string>{"dp=2 tp=4", "dp=8 tp=1"}));
}

// On its three axes, as on one axis, only the sizes count.
TEST(FindPlans, MeshesThatDifferInNamesAreSearchedOnce) {
  const std::string three = [] {
    std::string text(kMlp);
    return text.replace(text.find("<tp=4>"), 6, "<dp=1, tp=4, cp=1>");
  }();
  const Program program = parsed(three);
  RunArguments arguments;
  arguments.program = &program;
  arguments.options.function = "f";
  const auto cut_meshes = [&](const std::vector<std::string>& fixed) {
    const auto found =
        find_plans({.arguments = arguments, .backend = on_h200x8(), .ranks = 4, .fixed = fixed});
    EXPECT_TRUE(found) << found.error().message();
    return searched(*found);
  };
  EXPECT_EQ(cut_meshes({}), (std::set<std::string>{"dp=2 tp=2 cp=1", "dp=4 tp=1 cp=1"}));
  EXPECT_TRUE(cut_meshes({"w1"}).contains("dp=1 tp=4 cp=1"));  // on others %w1 is whole
}

Plan tried_plan(const std::string& value, int64_t time_ns, int64_t peak_bytes) {
  Plan out = plan_of(time_ns, peak_bytes);
  Sharding sharding = Sharding::replicated("m", 2);
  sharding.dims[0].axes = {{"dp"}};
  out.shardings = {{value, sharding}};
  return out;
}

TEST(JointCuts, ThoseThatSaveMemoryAndCutSomethingElse) {
  const Plan from = plan_of(100'000, 1000);
  const std::vector<Plan> plans = {tried_plan("a", 100'010, 900), tried_plan("b", 100'010, 800),
                                   tried_plan("a", 100'000, 850), tried_plan("c", 100'000, 999),
                                   tried_plan("d", 101'000, 700)};
  const std::vector<PlanCut> cuts = {
      {"a", 0, "dp"}, {"b", 0, "dp"}, {"a", 1, "dp"}, {"c", 0, "dp"}, {"d", 0, "dp"}};
  std::vector<TriedCut> tried;
  for (size_t i = 0; i < plans.size(); ++i) tried.push_back({&plans[i], cuts[i]});
  rank_cuts(tried);
  EXPECT_EQ(joint_cuts(from, tried), (std::vector<PlanCut>{cuts[1], cuts[2]}));
  // A cut that makes the plan faster comes alone.
  EXPECT_TRUE(joint_cuts(plan_of(110'000, 1000), tried).empty());
}

TEST(PlanMeshes, SizesMultiplyToTheRanks) {
  EXPECT_EQ(all_sizes({{"a", 1}}, 6), (std::vector<MeshAxes>{{{"a", 6}}}));
  const std::vector<MeshAxes> all = all_sizes({{"a", 1}, {"b", 1}}, 12);
  ASSERT_EQ(all.size(), 6U);
  for (const MeshAxes& axes : all) EXPECT_EQ(rank_count(axes), 12) << axes_text(axes);
}

TEST(PlanMeshes, AMeshIsWrittenAsInTheLanguageOrShorter) {
  const auto meshes = parse_mesh_axes({"dp=2,tp=4", "<tp=4, dp=2>", "x=8"});
  ASSERT_TRUE(meshes) << meshes.error().message();
  EXPECT_EQ(axes_text((*meshes)[1]), "tp=4 dp=2");
  for (const std::string wrong : {"", "tp", "tp=0", "tp=2,tp=2", "a=2> device_ids=[1, 0]",
                                  "a=16777217", "a=2>\nmesh @b = <c=2"}) {
    EXPECT_FALSE(parse_mesh_axes({wrong})) << wrong;
  }
  EXPECT_FALSE(parse_mesh_axes({"tp=2", "tp=4"}));
}

// The plan's choice for a parameter: %up0 stands for all %up.
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
      const Prediction all = predicted(cut, name);
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
