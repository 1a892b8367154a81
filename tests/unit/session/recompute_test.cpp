// What a gradient keeps: marks for recomputing lower the peak memory and change no number.
#include <gtest/gtest.h>

#include <algorithm>

#include "hostir/text/parse/parser.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/sim/sim_backend.h"

namespace hostir::interp {
namespace {

RunResult run_gradient(const std::string& fusion) {
  const auto program = text::parse_program(fusion + "gradient @g of @f\n");
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  if (!program) return {};
  std::vector<NamedInput> inputs;
  const Function& g = *program->find_function("g");
  for (const Parameter& p : g.params) {
    ValueSpec spec;
    spec.kind = ValueSpec::Kind::kNormal;
    spec.seed = inputs.size();
    spec.b = 0.1;
    inputs.push_back({g.value(p.value).name, spec});
  }
  PrepareOptions options;
  options.function = "g";
  const auto prepared = prepare(*program, inputs, options);
  EXPECT_TRUE(prepared) << (prepared ? "" : prepared.error().message());
  if (!prepared) return {};
  const auto make_backend = [](const BackendRequest& request) {
    sim::SimOptions simulated;
    simulated.machine = request.machine;
    return Expected<std::unique_ptr<Backend>>(sim::make_sim_backend(simulated));
  };
  auto result = run(**prepared, make_backend, {});
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? std::move(*result) : RunResult();
}

int64_t peak(const RunResult& run) {
  return *std::max_element(run.peak_bytes.begin(), run.peak_bytes.end());
}

void expect_same_outputs(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i)
    EXPECT_EQ(a.outputs[i].global.data, b.outputs[i].global.data) << a.outputs[i].name;
}

// A wide hidden layer in each pass.
std::string layers(const std::string& loop, const std::string& hidden) {
  return "mesh @m = <tp=2>\n"
         "fusion @f(%x: tensor<16x8xf32> <@m, [{}, {}]>, %w1: tensor<6x8x64xf32> <@m, [{}, {}, "
         "{tp}]>,\n"
         "          %w2: tensor<6x64x8xf32> <@m, [{}, {tp}, {}]>) -> (%y: tensor<16x8xf32>) {\n"
         "  %y = for %i in 0..6 carry(%h = %x)" +
         loop +
         " {\n"
         "    %a = at %w1[%i]\n    %b = at %w2[%i]\n"
         "    %u = matmul %h, %a" +
         hidden + "\n    %v = tanh %u" + hidden +
         "\n"
         "    %o = matmul %v, %b\n    %n = add %h, %o\n    yield %n\n  }\n  return %y\n}\n";
}

TEST(Recompute, AMarkedLoopKeepsOnlyWhatItCarries) {
  const RunResult kept = run_gradient(layers("", ""));
  const RunResult marked = run_gradient(layers(" recompute", ""));
  expect_same_outputs(kept, marked);
  // Six hidden layers of 16 x 32 numbers on each rank are not held at once.
  EXPECT_LE(peak(marked) + 4 * 16 * 32 * 4, peak(kept));
}

TEST(Recompute, MarkedValuesOfALoopAreNotKept) {
  const RunResult kept = run_gradient(layers("", ""));
  const RunResult marked = run_gradient(layers("", " {recompute = true}"));
  expect_same_outputs(kept, marked);
  EXPECT_LE(peak(marked) + 4 * 16 * 32 * 4, peak(kept));
}

TEST(Recompute, MarkedValuesOutsideLoopsAreNotKept) {
  const auto chain = [](const std::string& mark) {
    return "fusion @f(%x: tensor<8x8xf32>, %w1: tensor<8x512xf32>, %w2: tensor<512x8xf32>) -> "
           "(%y: tensor<8x8xf32>) {\n"
           "  %a = matmul %x, %w1" +
           mark + "\n  %b = sin %a" + mark +
           "\n  %c = matmul %b, %w2\n"
           "  %d = matmul %c, %w1" +
           mark + "\n  %e = sin %d" + mark +
           "\n  %y = matmul %e, %w2\n"
           "  return %y\n}\n";
  };
  const RunResult kept = run_gradient(chain(""));
  const RunResult marked = run_gradient(chain(" {recompute = true}"));
  expect_same_outputs(kept, marked);
  EXPECT_LT(peak(marked), peak(kept));
}

}  // namespace
}  // namespace hostir::interp
