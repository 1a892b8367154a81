#include <fmt/core.h>

#include "hostir/cli/backends.h"
#include "hostir/cli/program_arguments.h"
#include "hostir/cli/run_log.h"
#include "hostir/cli/run_report.h"
#include "hostir/cli/verbs.h"
#include "hostir/io/generate.h"
#include "hostir/io/npy.h"
#include "hostir/io/npz.h"
#include "interp/session/check_unsharded.h"
#include "interp/session/compare.h"

namespace hostir::cli {

namespace {

class RunVerb : public Verb {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "Run a program on all ranks and print its outputs";
  }
  std::string_view example() const override {
    return "  hostir run tests/programs/simple_add.hir --input 'a=4xf32=[1 2 3 4]' --input "
           "'b=4xf32=[5 6 7 8]'\n"
           "  hostir run tests/programs/tp_mlp.hir --mesh tp=4 --input x=@x.npy --input w1=@w1.npy "
           "\\\n"
           "      --input b1=@b1.npy --input w2=@w2.npy --input b2=@b2.npy --output y=@y.npy "
           "--expect y=@ref.npy\n"
           "  hostir run tests/programs/tp_mlp.hir --mesh tp=3 --input 'x=normal(1, 2x6x24xf32)' "
           "\\\n"
           "      --input 'w1=normal(2, 48x24xf32)' --check-unsharded --shards --trace run.db";
  }
  void declare(Arguments& arguments) override {
    program_.declare(arguments);
    program_.declare_inputs(arguments);
    backend_.declare(arguments);
    arguments.repeated("--output", outputs_,
                       "write an output: y=@y.npy, or @all.npz for all of them");
    arguments.repeated(
        "--expect", expects_,
        "compare an output: y=@y.npy, y=4xf32=[1 2 3 4]; exit status 1 if it differs");
    arguments.option("--atol", atol_, "absolute tolerance of --expect and --check-unsharded");
    arguments.option("--rtol", rtol_, "relative tolerance");
    arguments.option("--schedules", schedules_,
                     "run so many schedules; all must give the same bits");
    arguments.flag("--check-unsharded", check_unsharded_,
                   "compare every value with the unsharded program's");
    arguments.flag("--shards", shards_, "print local shapes and placements");
    arguments.flag("-q,--quiet", quiet_, "print no values and no summary");
    log_.declare(arguments);
  }

  int execute(Terminal& terminal) override {
    auto loaded = load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    const auto status = run(terminal, *loaded);
    return status ? *status : terminal.report(status.error(), loaded->sources);
  }

 private:
  Expected<int> run(Terminal& terminal, const LoadedFile& file) {
    HOSTIR_ASSIGN_OR_RETURN(const auto prepared, program_.prepare(file));
    HOSTIR_ASSIGN_OR_RETURN(interp::BackendRequest request, backend_.request(*prepared->program));
    HOSTIR_ASSIGN_OR_RETURN(auto log, log_.open(*prepared, request, file, program_.path));
    const Expected<interp::RunResult> ran = run_once(terminal, *prepared, request, log.get());
    if (!ran) {
      return terminal.report(interp::in_given_text(ran.error(), *prepared->view),
                             interp::sources_of_error(*prepared->view));
    }
    const interp::RunResult& first = *ran;
    if (log) HOSTIR_TRY(log->close(first.faults));
    if (!quiet_) print_result(terminal, first, request.name);
    for (const Fault& fault : first.faults) {
      if (fault.severity != Severity::kError) report_fault(terminal, *prepared, fault);
    }
    if (const Fault* fault = first.worst()) return report_fault(terminal, *prepared, *fault);
    if (request.name == "null") return 0;  // it computes nothing that could be compared or written
    HOSTIR_TRY(write_outputs(first));
    int status = 0;
    HOSTIR_ASSIGN_OR_RETURN(const bool expected, check_expectations(terminal, first));
    if (!expected) status = 1;
    HOSTIR_ASSIGN_OR_RETURN(const bool stable,
                            check_schedules(terminal, *prepared, request, first));
    if (!stable) status = 1;
    if (check_unsharded_) {
      HOSTIR_ASSIGN_OR_RETURN(const bool same, check_unsharded(terminal, *prepared, request));
      if (!same) status = 1;
    }
    return status;
  }

  using Fault = interp::Fault;

  Expected<interp::RunResult> run_once(Terminal& terminal, const interp::Prepared& prepared,
                                       const interp::BackendRequest& request, RunLog* log) {
    interp::RunOptions options;
    options.backend = request;
    options.max_steps = static_cast<uint64_t>(backend_.max_steps);
    options.progress = [&terminal](uint64_t steps) {
      terminal.progress(fmt::format("{} instructions", steps));
    };
    if (log) log->attach(options);
    return interp::run(prepared, make_backend_factory(), options);
  }

  void print_result(Terminal& terminal, const interp::RunResult& result,
                    const std::string& backend) {
    // `null` has no values, and those of a run that failed say nothing.
    const bool values = backend != "null" && result.worst() == nullptr;
    for (const interp::NamedOutput& output : result.outputs) {
      if (!values) break;
      terminal.print(describe_value(output.name, output.global));
      for (const std::string& note : output.notes) terminal.print("  " + note + "\n");
      if (shards_) terminal.print(describe_shards(output));
    }
    terminal.print(describe_summary(result, backend == "sim"));
  }

  static int report_fault(Terminal& terminal, const interp::Prepared& prepared,
                          const Fault& fault) {
    return terminal.report(interp::in_given_text(interp::to_error(fault), *prepared.view),
                           interp::sources_of_error(*prepared.view));
  }

  Expected<void> write_outputs(const interp::RunResult& result) {
    for (const std::string& text : outputs_) {
      if (text.starts_with('@')) {
        io::NamedTensors all;
        for (const interp::NamedOutput& o : result.outputs) all.emplace_back(o.name, o.global);
        HOSTIR_TRY(io::write_npz(text.substr(1), all));
        continue;
      }
      HOSTIR_ASSIGN_OR_RETURN(const auto binding, split_binding(text, "--output"));
      HOSTIR_ASSIGN_OR_RETURN(const interp::NamedOutput* output,
                              find_output(result, binding.first));
      const std::string path =
          binding.second.starts_with('@') ? binding.second.substr(1) : binding.second;
      HOSTIR_TRY(io::write_npy(path, output->global));
    }
    return {};
  }

  static Expected<const interp::NamedOutput*> find_output(const interp::RunResult& result,
                                                          const std::string& name) {
    std::string names;
    for (const interp::NamedOutput& output : result.outputs) {
      if (output.name == name) return &output;
      names += (names.empty() ? "" : ", ") + output.name;
    }
    return fail(ErrorKind::kUsage, "usage",
                "the program has no output \"" + name + "\"; it has " + names);
  }

  Tolerance tolerance() const {
    Tolerance t;
    if (atol_ >= 0 || rtol_ >= 0) t.kind = Tolerance::Kind::kAbsRel;
    t.atol = atol_ >= 0 ? atol_ : 0;
    t.rtol = rtol_ >= 0 ? rtol_ : 0;
    return t;
  }

  Expected<bool> check_expectations(Terminal& terminal, const interp::RunResult& result) {
    bool good = true;
    for (const std::string& text : expects_) {
      HOSTIR_ASSIGN_OR_RETURN(const auto binding, split_binding(text, "--expect"));
      HOSTIR_ASSIGN_OR_RETURN(const interp::NamedOutput* output,
                              find_output(result, binding.first));
      HOSTIR_ASSIGN_OR_RETURN(const ValueSpec spec, io::parse_value_spec(binding.second));
      const bool as_it_is =
          spec.kind == ValueSpec::Kind::kInline || spec.kind == ValueSpec::Kind::kFile;
      HOSTIR_ASSIGN_OR_RETURN(const Tensor expected,
                              io::materialise(spec, "", as_it_is ? nullptr : &output->global.dtype,
                                              &output->global.extents));
      if (expected.extents != output->global.extents) {
        terminal.print(terminal.styled(
            fmt::format("%{}: the expected value has another shape\n", output->name),
            Terminal::Style::kBad));
        good = false;
        continue;
      }
      const auto difference = interp::compare(output->global, expected, tolerance());
      if (difference) {
        terminal.print(terminal.styled(
            fmt::format("%{}: {}\n", output->name, interp::describe(*difference, output->global)),
            Terminal::Style::kBad));
        good = false;
      } else if (!quiet_) {
        terminal.print(
            terminal.styled(fmt::format("%{}: as expected ({})\n", output->name,
                                        interp::describe(tolerance(), output->global.dtype)),
                            Terminal::Style::kGood));
      }
    }
    return good;
  }

  Expected<bool> check_schedules(Terminal& terminal, const interp::Prepared& prepared,
                                 const interp::BackendRequest& request,
                                 const interp::RunResult& first) {
    bool good = true;
    for (int64_t k = 1; k < schedules_; ++k) {
      interp::BackendRequest other = request;
      other.schedule = static_cast<uint64_t>(k);
      HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result,
                              run_once(terminal, prepared, other, nullptr));
      if (const Fault* fault = result.worst()) {
        report_fault(terminal, prepared, *fault);
        terminal.print(
            terminal.styled(fmt::format("schedule {} failed\n", k), Terminal::Style::kBad));
        good = false;
        continue;
      }
      for (size_t i = 0; i < first.outputs.size(); ++i) {
        if (result.outputs[i].global == first.outputs[i].global) continue;
        terminal.print(terminal.styled(fmt::format("%{} differs under schedule {} (seed {})\n",
                                                   first.outputs[i].name, k, other.seed),
                                       Terminal::Style::kBad));
        good = false;
      }
    }
    if (good && schedules_ > 1 && !quiet_) {
      terminal.print(terminal.styled(fmt::format("{} schedules: the same bits\n", schedules_),
                                     Terminal::Style::kGood));
    }
    return good;
  }

  Expected<bool> check_unsharded(Terminal& terminal, const interp::Prepared& prepared,
                                 const interp::BackendRequest& request) {
    interp::RunOptions options;
    options.backend = request;
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::UnshardedReport report,
        interp::check_unsharded(prepared, make_backend_factory(), options, tolerance()));
    if (report.difference) {
      terminal.print(terminal.styled(report.difference->sentence + "\n", Terminal::Style::kBad));
    } else if (!quiet_) {
      terminal.print(terminal.styled(
          fmt::format("same as unsharded: {} values compared, outputs differ by at most {:.2g} of "
                      "their largest element\n",
                      report.compared.size(), report.largest_relative),
          Terminal::Style::kGood));
    }
    return !report.difference;
  }

  ProgramArguments program_;
  BackendArguments backend_;
  LogArguments log_;
  std::vector<std::string> outputs_;
  std::vector<std::string> expects_;
  double atol_ = -1;
  double rtol_ = -1;
  int64_t schedules_ = 1;
  bool check_unsharded_ = false;
  bool shards_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace hostir::cli
