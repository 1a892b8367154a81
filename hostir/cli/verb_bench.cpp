#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "hostir/api/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/run_report.h"
#include "hostir/cli/verbs.h"
#include "hostir/support/text.h"
#include "interp/session/engine.h"
#include "traces/run_description.h"

namespace hostir::cli {

namespace {

using Clock = std::chrono::steady_clock;

// The minimum time for one rank's kernels according to the machine description (largest over
// ranks), ignoring streams.
int64_t kernel_limit_ns(const traces::RunDescription& run) {
  double busiest = 0;
  std::vector<double> by_rank;
  for (const traces::KernelDescription& k : run.kernels) {
    const auto rank = static_cast<size_t>(k.rank);
    if (by_rank.size() <= rank) by_rank.resize(rank + 1, 0);
    by_rank[rank] += k.limit_ns;
    busiest = std::max(busiest, by_rank[rank]);
  }
  return static_cast<int64_t>(busiest);
}

double total_flops(const traces::RunDescription& run) {
  double flops = 0;
  for (const traces::KernelDescription& k : run.kernels) flops += k.flops;
  return flops;
}

class BenchVerb : public Verb {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view summary() const override {
    return "Time a program on a backend, with the limit beside it";
  }
  std::string_view example() const override {
    return "  hostir bench tests/programs/tp_mlp.hir --mesh tp=4 --input 'x=normal(1, "
           "1x128x2048xf32)' ...\n"
           "  hostir bench tests/programs/pipeline_by_hand.hir --backend null       the "
           "interpreter alone";
  }
  void declare(Arguments& arguments) override {
    declare_program(program_, arguments);
    declare_inputs(program_, arguments);
    declare_backend(backend_, arguments);
    arguments.option("-n,--runs", runs_, "measured runs, after one that is not counted",
                     {.least = 1, .most = 1'000'000});
  }
  int execute(Terminal& terminal) override {
    auto loaded = api::load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    const auto status = bench(terminal, *loaded);
    return status ? *status : terminal.report(status.error(), loaded->sources);
  }

 private:
  Expected<int> bench(Terminal& terminal, const api::LoadedFile& file) {
    std::string notice;
    HOSTIR_ASSIGN_OR_RETURN(const auto prepared, program_.prepare(file, &notice));
    if (!notice.empty()) terminal.note(notice);
    interp::RunOptions options;
    HOSTIR_ASSIGN_OR_RETURN(options.backend, backend_.request(*prepared->program));
    options.max_steps = static_cast<uint64_t>(backend_.max_steps);
    options.summary = interp::RunOptions::Summary::kNone;
    std::vector<double> seconds;
    interp::RunResult last;
    for (int64_t i = 0; i <= runs_; ++i) {
      terminal.progress(fmt::format("run {} of {}", i, runs_));
      // Time only the interpreter; preparing (compiling kernels, binding inputs) comes before.
      Clock::time_point begin;
      options.attach = [&begin](interp::Interpreter&) { begin = Clock::now(); };
      HOSTIR_ASSIGN_OR_RETURN(last, interp::run(*prepared, api::make_backend_factory(), options));
      const double took = std::chrono::duration<double>(Clock::now() - begin).count();
      if (const interp::Fault* fault = last.worst())
        return terminal.report(interp::in_given_text(interp::to_error(*fault), *prepared->view),
                               interp::sources_of_error(*prepared->view));
      if (i > 0) seconds.push_back(took);
    }
    std::sort(seconds.begin(), seconds.end());
    report(terminal, *prepared, options, last, seconds);
    return 0;
  }

  void report(Terminal& terminal, const interp::Prepared& prepared,
              const interp::RunOptions& options, const interp::RunResult& result,
              const std::vector<double>& seconds) const {
    const double median = seconds[seconds.size() / 2];
    const traces::RunDescription run = traces::describe(prepared, options.backend);
    terminal.print(
        fmt::format("wall time      median {:.4g} ms, min {:.4g}, max {:.4g} of {} runs\n",
                    median * 1e3, seconds.front() * 1e3, seconds.back() * 1e3, seconds.size()));
    terminal.print(
        fmt::format("instructions   {} in all ranks, {:.4g} ns each\n", result.steps,
                    median * 1e9 / static_cast<double>(std::max<uint64_t>(1, result.steps))));
    const double flops = total_flops(run);
    if (flops > 0 && options.backend.traits.models_time) {
      terminal.print(fmt::format("arithmetic     {:.4g} GFLOP, {:.4g} GFLOP/s on this computer\n",
                                 flops * 1e-9, flops * 1e-9 / median));
    }
    if (!options.backend.traits.models_time) return;
    terminal.print(fmt::format(
        "simulated      {} on {}; its limit for the kernels of the busiest rank is {}\n",
        time_text(result.finished_ns), options.backend.machine.name,
        time_text(kernel_limit_ns(run))));
  }

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  int64_t runs_ = 5;
};

}  // namespace

std::unique_ptr<Verb> make_bench_verb() { return std::make_unique<BenchVerb>(); }

}  // namespace hostir::cli
