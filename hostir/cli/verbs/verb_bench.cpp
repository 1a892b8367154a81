#include <fmt/core.h>

#include <algorithm>

#include "hostir/api/open/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/run_report.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/text.h"
#include "interp/session/prepare/repeated_run.h"
#include "traces/writer/run_description.h"

namespace hostir::cli {

namespace {

// The arithmetic of all ranks' kernels, and the minimum time of the busiest rank's kernels
// according to the machine description, without streams, launches and communication.
struct KernelLimit {
  double flops = 0;
  double ns = 0;
};

KernelLimit limit_of(const std::vector<traces::KernelDescription>& kernels) {
  KernelLimit limit;
  std::vector<double> by_rank;
  for (const traces::KernelDescription& k : kernels) {
    const auto rank = static_cast<size_t>(k.rank);
    if (by_rank.size() <= rank) by_rank.resize(rank + 1, 0);
    by_rank[rank] += k.limit_ns;
    limit.ns = std::max(limit.ns, by_rank[rank]);
    limit.flops += k.flops;
  }
  return limit;
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
    program_.input_data = backend_.input_data();
    program_.machine = backend_.machine;
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
    HOSTIR_ASSIGN_OR_RETURN(
        const auto repeated,
        interp::RepeatedRun::create(*prepared, api::make_backend_factory(), options));
    std::vector<double> seconds;
    double first = 0;
    for (int64_t i = 0; i <= runs_; ++i) {
      terminal.progress(fmt::format("run {} of {}", i, runs_));
      HOSTIR_ASSIGN_OR_RETURN(const double took, repeated->run());
      for (const interp::Fault& fault : repeated->interpreter().faults()) {
        if (fault.severity != Severity::kError) continue;
        return terminal.report(interp::in_given_text(interp::to_error(fault), *prepared->view),
                               interp::sources_of_error(*prepared->view));
      }
      if (i == 0) first = took;
      if (i > 0) seconds.push_back(took);
    }
    std::sort(seconds.begin(), seconds.end());
    report(terminal, options.backend, *repeated, first, seconds);
    if (options.backend.graphs) note_graphs(terminal, repeated->interpreter());
    return 0;
  }

  void report(Terminal& terminal, const interp::BackendRequest& backend,
              const interp::RepeatedRun& repeated, double first,
              const std::vector<double>& seconds) const {
    const double median = seconds[seconds.size() / 2];
    terminal.print(fmt::format(
        "wall time      median {:.4g} ms, min {:.4g}, max {:.4g} of {} runs; the first, "
        "which prepares, {:.4g}\n",
        median * 1e3, seconds.front() * 1e3, seconds.back() * 1e3, seconds.size(), first * 1e3));
    const uint64_t steps = repeated.interpreter().position();
    terminal.print(fmt::format("instructions   {} in all ranks, {:.4g} ns each\n", steps,
                               median * 1e9 / static_cast<double>(std::max<uint64_t>(1, steps))));
    if (!backend.traits.models_time) return;
    const KernelLimit limit = limit_of(traces::describe_kernels(repeated.interpreter()));
    if (limit.flops > 0) {
      terminal.print(fmt::format("arithmetic     {:.4g} GFLOP, {:.4g} GFLOP/s on this computer\n",
                                 limit.flops * 1e-9, limit.flops * 1e-9 / median));
    }
    std::string simulated =
        fmt::format("simulated      {} on {}",
                    time_text(static_cast<double>(repeated.finished_ns())), backend.machine.name);
    if (limit.ns > 0) {
      simulated += fmt::format("; its limit for the kernels of the busiest rank is {}",
                               limit.ns < 1 ? "less than 1 ns" : time_text(limit.ns));
    }
    terminal.print(simulated + "\n");
  }

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  int64_t runs_ = 5;
};

}  // namespace

std::unique_ptr<Verb> make_bench_verb() { return std::make_unique<BenchVerb>(); }

}  // namespace hostir::cli
