// Reverse steps in the TP MLP, looped to 10,000 instructions, on the simulator.
//   history_bench [hidden [rows]]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "hostir/text/parse/parser.h"
#include "interp/core/history/history.h"
#include "interp/sim/sim_backend.h"
#include "mlp_loop.h"

namespace {

using namespace hostir;
using Milliseconds = std::chrono::duration<double, std::milli>;

Tensor normal(Extents extents, uint32_t seed) {
  Tensor out = Tensor::zeros(DType::kF32, std::move(extents));
  std::mt19937 random(seed);
  std::normal_distribution<double> value(0, 0.02);
  const int64_t n = out.element_count();
  for (int64_t i = 0; i < n; ++i) out.set_double(i, value(random));
  return out;
}

// The position before the last instruction that the rank executed.
uint64_t last_step(const interp::History& history, interp::Rank rank) {
  uint64_t k = history.position();
  while (k > 0) {
    const interp::Decision& d = history.line()[--k];
    if (d.kind == interp::DecisionRecord::Kind::kRun && d.rank == rank) break;
  }
  return k;
}

Expected<void> run(int hidden, int rows) {
  constexpr int kRanks = 4;
  HOSTIR_ASSIGN_OR_RETURN(Program program,
                          text::parse_program(bench::mlp_loop(rows, hidden, kRanks, 277)));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto code,
      interp::compile_code(std::make_shared<const Program>(std::move(program)), {}));
  const auto backend = sim::make_sim_backend({});
  interp::InterpreterOptions options;
  options.issue_ns = 2000;
  HOSTIR_ASSIGN_OR_RETURN(const auto interpreter,
                          interp::Interpreter::create(code, *backend, nullptr, options));
  HOSTIR_TRY(interpreter->bind(0, normal({rows, hidden}, 1)));
  HOSTIR_TRY(interpreter->bind(1, normal({hidden, 4 * hidden}, 2)));
  HOSTIR_TRY(interpreter->bind(2, normal({4 * hidden, hidden}, 3)));
  HOSTIR_ASSIGN_OR_RETURN(const auto history, interp::History::create(*interpreter));
  while (const auto rank = interpreter->next_rank()) HOSTIR_TRY(history->step(*rank));
  fmt::print("{} decisions\n", history->size());
  constexpr int kSteps = 200;
  double total = 0;
  double slowest = 0;
  for (int i = 0; i < kSteps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    HOSTIR_TRY(history->go_to(last_step(*history, i % kRanks)));
    const Milliseconds spent = std::chrono::steady_clock::now() - begin;
    total += spent.count();
    slowest = std::max(slowest, spent.count());
  }
  fmt::print("{} reverse steps: mean {:.1f} ms, slowest {:.1f} ms\n", kSteps, total / kSteps,
             slowest);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = run(argc > 1 ? std::atoi(argv[1]) : 2048, argc > 2 ? std::atoi(argv[2]) : 128);
  if (!done) fmt::print("{}\n", done.error().message());
  return done ? 0 : 1;
}
