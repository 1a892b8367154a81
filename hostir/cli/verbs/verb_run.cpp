#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "hostir/api/open/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/interrupt.h"
#include "hostir/cli/verbs/run_files.h"
#include "hostir/cli/verbs/run_report.h"
#include "hostir/cli/verbs/verbs.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/checks/buffer_sweep.h"
#include "interp/session/checks/check_reference.h"
#include "interp/session/checks/check_unsharded.h"
#include "interp/session/checks/compare.h"
#include "interp/session/checks/schedule_search.h"

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
           "  hostir run tests/programs/tp_mlp.hir --mesh tp=3 --check-unsharded --shards --trace "
           "run.db\n"
           "  hostir run tests/programs/tp_mlp.hir --mesh tp=3 --example-inputs --reference sim\n"
           "  hostir run tests/programs/tp_mlp.hir --mesh tp=8 --size B=4 --size S=2048 --size "
           "H=8192 \\\n"
           "      --size F=32768 --example-inputs --shapes-only";
  }
  void declare(Arguments& arguments) override {
    declare_program(program_, arguments);
    declare_gradient(program_, arguments);
    declare_inputs(program_, arguments);
    declare_backend(backend_, arguments);
    arguments.repeated(
        "--output", outputs_,
        "write an output: y=@y.npy, or @all.npz or @all.safetensors for all of them");
    arguments.repeated("--expect", expects_,
                       "compare an output: y=@y.npy, y=4xf32=[1 2 3 4], or @all.npz or "
                       "@all.safetensors for those in "
                       "the file; exit status 1 if one differs");
    arguments.option("--atol", atol_,
                     "absolute tolerance of --expect, --reference and --check-unsharded");
    arguments.option("--rtol", rtol_, "relative tolerance");
    arguments.option("--schedules", schedules_,
                     "number of schedules to run; all must give the same bits", {.least = 1});
    arguments.flag(
        "--p2p-sweep", p2p_sweep_,
        "find the smallest p2p buffer with which the program completes; exit status 4 if "
        "it needs one");
    arguments.flag(
        "--check-unsharded", check_unsharded_,
        "compare every value with the unsharded program's; generates inputs if none are given");
    arguments.choice(
        "--reference", reference_, {"sim"},
        "run on another backend too, with its reference kernels; compare the outputs and, in one "
        "process, what every instruction wrote");
    arguments.flag("--example-inputs", example_inputs_,
                   "supply missing inputs: those of the file's tests, or N(0, 1)");
    arguments.choice(
        "--nan", nan_, {"warn", "error"},
        "treat the first NaN, or a returned infinity, as a warning (default) or a fault; on a GPU, "
        "which is not watched by default, look for it");
    arguments.flag("--shards", shards_, "print local shapes and placements");
    arguments.flag("--shapes-only", shapes_only_,
                   "predict time, memory and collectives without computing values: short for "
                   "--backend shapes");
    declare_loop_passes(loop_passes_, arguments);
    arguments.flag("-q,--quiet", quiet_, "print no values and no summary");
    declare_log(log_, arguments);
  }

  int execute(Terminal& terminal) override {
    if (shapes_only_) backend_.backend = "shapes";
    program_.input_data = backend_.input_data();
    program_.machine = backend_.machine;
    auto loaded = api::load_file(
        program_.path,
        {.shapes = [this](size_t index) { return ExpectedOutputs::shape(expects_, index); },
         .loop_passes = loop_passes_,
         .arguments = program_.argument_values()});
    if (!loaded) return terminal.report(loaded.error());
    if (auto made = program_.differentiate(*loaded); !made) {
      return terminal.report(made.error(), loaded->sources);
    }
    const auto status = run(terminal, *loaded);
    return status ? *status : terminal.report(status.error(), loaded->sources);
  }

 private:
  Expected<int> run(Terminal& terminal, const api::LoadedFile& file) {
    HOSTIR_TRY(check_backend());
    // If nothing is computed, inputs only give sizes.
    const bool computes = api::find_backend(backend_.backend)->traits.reads_values;
    const bool make_up =
        example_inputs_ || !computes || (check_unsharded_ && program_.inputs.empty());
    std::string notice;
    HOSTIR_ASSIGN_OR_RETURN(
        const auto prepared,
        program_.prepare(file, make_up ? &notice : nullptr,
                         {{}, [&terminal](std::string_view part) { terminal.progress(part); }}));
    if (!notice.empty() && (computes || program_.sizes.empty())) terminal.note(notice);
    if (!file.import_notes.empty()) terminal.note(file.import_notes);
    HOSTIR_ASSIGN_OR_RETURN(const OutputFiles outputs,
                            OutputFiles::parse(outputs_, *prepared, file.complex_results));
    HOSTIR_ASSIGN_OR_RETURN(const ExpectedOutputs expected,
                            ExpectedOutputs::parse(expects_, *prepared, file.complex_results));
    HOSTIR_ASSIGN_OR_RETURN(interp::BackendRequest request, backend_.request(*prepared->program));
    HOSTIR_ASSIGN_OR_RETURN(auto log, log_.open(*prepared, request));
    const InterruptGuard guard;
    Expected<interp::RunResult> ran =
        run_once(terminal, *prepared, request, log.get(), guard.token());
    if (!ran && guard.signal() != 0) return stop_early(terminal, guard.signal(), log.get());
    if (!ran) {
      return terminal.report(interp::in_given_text(ran.error(), *prepared->view),
                             interp::sources_of_error(*prepared->view));
    }
    if (nan_ == "error") make_errors_of_nans(*ran);
    const interp::RunResult& first = *ran;
    if (log) HOSTIR_TRY(log->close(first.faults));
    const bool speaks = request.process.index == 0;  // the others have the same results
    if (!quiet_ && speaks) {
      const std::string reasons = file.imported ? describe_reasons(*prepared) : "";
      print_result(terminal, first, request.traits, reasons);
    }
    for (const Fault& fault : first.faults) {
      if (fault.severity != Severity::kError) report_fault(terminal, *prepared, fault);
    }
    if (const Fault* fault = first.worst()) {
      const int stopped = report_fault(terminal, *prepared, *fault);
      for (const Fault& other : first.faults) {
        if (&other != fault && other.severity == Severity::kError)
          report_fault(terminal, *prepared, other);
      }
      if (!quiet_) hint_at_edits(terminal, *prepared, *fault);
      if (!fault->fatal) HOSTIR_TRY(check_schedules(terminal, *prepared, request, first));
      if (p2p_sweep_) HOSTIR_TRY(sweep(terminal, *prepared, request));
      return stopped;
    }
    if (!speaks) return 0;
    HOSTIR_TRY(check_loops(first, file.unfinished));
    HOSTIR_TRY(outputs.write(first));
    int status = 0;
    const auto report =
        quiet_ ? ExpectedOutputs::Report::kDifferences : ExpectedOutputs::Report::kAll;
    HOSTIR_ASSIGN_OR_RETURN(const bool as_expected,
                            expected.check(terminal, first, tolerance(), report));
    if (!as_expected) status = 1;
    HOSTIR_ASSIGN_OR_RETURN(const bool stable,
                            check_schedules(terminal, *prepared, request, first));
    if (!stable) status = 1;
    if (p2p_sweep_) {
      HOSTIR_ASSIGN_OR_RETURN(const int swept, sweep(terminal, *prepared, request));
      if (swept != 0) status = swept;
    }
    if (reference_) {
      HOSTIR_ASSIGN_OR_RETURN(const bool same,
                              check_reference(terminal, *prepared, request, first));
      if (!same) status = 1;
    }
    if (check_unsharded_) {
      HOSTIR_ASSIGN_OR_RETURN(const bool same, check_unsharded(terminal, *prepared, request));
      if (!same) status = 1;
    }
    return status;
  }

  using Fault = interp::Fault;

  Expected<int> stop_early(Terminal& terminal, int signal, api::RunLog* log) const {
    if (log) HOSTIR_TRY(log->close("interrupted"));
    terminal.note(
        fmt::format("run: stopped by {}{}", signal == SIGINT ? "SIGINT" : "SIGTERM",
                    log ? "; the log \"" + log_.path + "\" holds the run up to here" : ""));
    return 128 + signal;
  }

  Expected<interp::RunResult> run_once(Terminal& terminal, const interp::Prepared& prepared,
                                       const interp::BackendRequest& request, api::RunLog* log,
                                       const std::stop_token& stop = {}) {
    interp::RunOptions options;
    options.give_up = [stop] { return stop.stop_requested(); };
    options.backend = request;
    options.max_steps = static_cast<uint64_t>(backend_.max_steps);
    options.watch_values = nan_.has_value();
    options.progress = [&terminal](uint64_t steps) {
      terminal.progress(fmt::format("{} instructions", steps));
    };
    if (request.graphs) {
      options.ended = [&terminal](const interp::Interpreter& interpreter) {
        note_graphs(terminal, interpreter);
      };
    }
    if (log) log->attach(options);
    return interp::run(prepared, api::make_backend_factory(), options);
  }

  void print_result(Terminal& terminal, const interp::RunResult& result,
                    const interp::BackendTraits& backend, const std::string& reasons) {
    // The values of a failed run are meaningless, unless it only kept memory.
    const bool failed =
        std::any_of(result.faults.begin(), result.faults.end(), [](const Fault& fault) {
          return fault.severity == Severity::kError && fault.record.kind != "leak";
        });
    for (const interp::NamedOutput& output : result.outputs) {
      if (failed || (!backend.reads_values && !backend.models_time)) break;
      terminal.print(backend.reads_values ? describe_value(output.name, output.global)
                                          : describe_shape(output.name, output.global));
      for (const std::string& note : output.notes) terminal.print("  " + note + "\n");
      if (shards_) terminal.print(describe_shards(output));
    }
    terminal.print(describe_summary(result, backend.models_time, reasons));
  }

  // An imported loop whose end depends on data is unrolled a fixed number of times.
  static Expected<void> check_loops(const interp::RunResult& result, const std::string& name) {
    for (const interp::NamedOutput& output : result.outputs) {
      if (name.empty() || output.name != name || output.global.data.empty() ||
          output.global.get_int(0) == 0)
        continue;
      return fail(
          ErrorKind::kRuntime, "unfinished_loop",
          fmt::format(
              "a loop of the imported program does not end within the iterations it was "
              "unrolled to, so the results are wrong: %{} is true. Unroll more with --loop-passes, "
              "or run the text of `lower(..).compile().as_text()`, where loops are not unrolled",
              name));
    }
    return {};
  }

  static void make_errors_of_nans(interp::RunResult& result) {
    for (Fault& fault : result.faults) {
      if (fault.record.kind == "nan_born" || fault.record.kind == "inf_born")
        fault.severity = Severity::kError;
    }
  }

  static int report_fault(Terminal& terminal, const interp::Prepared& prepared,
                          const Fault& fault) {
    return terminal.report(interp::in_given_text(interp::to_error(fault), *prepared.view),
                           interp::sources_of_error(*prepared.view));
  }

  // Suggests `whatif` after a deadlock, a mismatch or a race.
  void hint_at_edits(Terminal& terminal, const interp::Prepared& prepared, const Fault& fault) {
    const std::string& kind = fault.record.kind;
    const bool race =
        kind.starts_with("race_") || kind == "free_in_flight" || kind == "use_before_wait";
    if (kind != "deadlock" && kind != "collective_mismatch" && !race) return;
    terminal.note(fmt::format(
        "hint: in `hostir debug {} @{}`, `continue` and then `whatif` tries small edits that {}",
        program_.path, prepared.function, race ? "remove the fault" : "let it complete"));
  }

  Tolerance tolerance() const {
    Tolerance t;
    if (atol_ || rtol_) t.kind = Tolerance::Kind::kAbsRel;
    t.atol = atol_.value_or(0);
    t.rtol = rtol_.value_or(0);
    return t;
  }

  // Rejects options that need values if the backend computes none; it would return zeros.
  Expected<void> check_backend() const {
    if (api::find_backend(backend_.backend)->traits.reads_values) return {};
    const std::pair<bool, const char*> asking[] = {
        {!expects_.empty(), "--expect"},         {!outputs_.empty(), "--output"},
        {check_unsharded_, "--check-unsharded"}, {reference_.has_value(), "--reference"},
        {schedules_ > 1, "--schedules"},         {nan_.has_value(), "--nan"}};
    for (const auto& [given, option] : asking) {
      if (!given) continue;
      return fail(
          ErrorKind::kUsage, "usage",
          fmt::format("{} needs values, but {} computes none", option,
                      shapes_only_ ? "--shapes-only" : "the " + backend_.backend + " backend"));
    }
    return {};
  }

  // The second run for --reference. `sim` uses its plain loops, which give the same bits
  // everywhere.
  Expected<bool> check_reference(Terminal& terminal, const interp::Prepared& prepared,
                                 const interp::BackendRequest& request,
                                 const interp::RunResult& first) {
    interp::BackendRequest other = request;
    api::name_backend(other, *reference_);
    other.reference_kernels = true;
    const std::string what = other.name + " with reference kernels";
    if (request.name == other.name && request.reference_kernels) {
      return fail(
          ErrorKind::kUsage, "usage",
          fmt::format("this run already uses {}; choose another backend to compare with", what));
    }
    HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result,
                            run_once(terminal, prepared, other, nullptr));
    if (const Fault* fault = result.worst()) {
      report_fault(terminal, prepared, *fault);
      terminal.print(terminal.styled(what + " failed\n", Terminal::Style::kBad));
      return false;
    }
    bool good = true;
    for (size_t i = 0; i < first.outputs.size(); ++i) {
      const Tensor& actual = first.outputs[i].global;
      const auto difference = interp::compare(actual, result.outputs[i].global, tolerance());
      if (!difference && quiet_) continue;
      good = good && !difference;
      terminal.print(terminal.styled(
          difference ? fmt::format("%{} against {}: {}\n", first.outputs[i].name, what,
                                   interp::describe(*difference, actual))
                     : fmt::format("%{}: as {} has it ({})\n", first.outputs[i].name, what,
                                   interp::describe(tolerance(), actual.dtype)),
          difference ? Terminal::Style::kBad : Terminal::Style::kGood));
    }
    if (request.process.count > 1) return good;  // the other processes have ended
    HOSTIR_ASSIGN_OR_RETURN(const bool same, check_writes(terminal, prepared, request, other));
    return good && same;
  }

  // Executes both runs again and records what every instruction writes.
  Expected<bool> check_writes(Terminal& terminal, const interp::Prepared& prepared,
                              const interp::BackendRequest& request,
                              const interp::BackendRequest& other) {
    interp::RunOptions options;
    options.max_steps = static_cast<uint64_t>(backend_.max_steps);
    options.backend = request;
    interp::RunOptions reference = options;
    reference.backend = other;
    HOSTIR_ASSIGN_OR_RETURN(const interp::ReferenceReport report,
                            interp::check_reference(prepared, api::make_backend_factory(), options,
                                                    reference, tolerance()));
    if (report.difference) {
      terminal.print(terminal.styled("first difference: " + report.difference->sentence + "\n",
                                     Terminal::Style::kBad));
    } else if (!quiet_) {
      terminal.print(terminal.styled(
          fmt::format(
              "all {} compared writes equal those of {}{}{}\n", report.compared, other.name,
              report.skipped > 0
                  ? fmt::format("; {} were not compared because they did not fit into memory",
                                report.skipped)
                  : "",
              report.unmatched > 0
                  ? fmt::format("; {} of {}'s are not in this run", report.unmatched, other.name)
                  : ""),
          Terminal::Style::kGood));
    }
    return !report.difference;
  }

  // Returns the exit status: an error if the program needs p2p buffers.
  Expected<int> sweep(Terminal& terminal, const interp::Prepared& prepared,
                      const interp::BackendRequest& request) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::BufferSweep found,
                            interp::sweep_buffers([&](int64_t bytes) {
                              interp::BackendRequest other = request;
                              other.machine.p2p_buffer_bytes = static_cast<double>(bytes);
                              return run_once(terminal, prepared, other, nullptr);
                            }));
    const bool good = found.least_bytes == 0;
    std::string text = "deadlocks with p2p buffers of any size\n";
    if (good) {
      text = "completes without p2p buffers, whatever the size of the messages\n";
    } else if (found.least_bytes) {
      text = fmt::format(
          "deadlocks with p2p buffers below {} bytes, completes with {} bytes or more; with larger "
          "messages it hangs there too\n",
          *found.least_bytes, *found.least_bytes);
    }
    terminal.print(terminal.styled(text, good ? Terminal::Style::kGood : Terminal::Style::kBad));
    return good ? 0 : exit_status(ErrorKind::kStuck);
  }

  static std::string delay_words(const interp::OrderChoice& choice) {
    const std::string who =
        choice.rank == interp::kNoRank ? "every rank" : fmt::format("rank {}", choice.rank);
    return fmt::format("{} on {} until after {}", choice.late, who, choice.first);
  }

  Expected<bool> check_schedules(Terminal& terminal, const interp::Prepared& prepared,
                                 const interp::BackendRequest& request,
                                 const interp::RunResult& first) {
    if (schedules_ <= 1) return true;
    interp::ScheduleRuns runs;
    runs.numbered = [&](int64_t k) {
      interp::BackendRequest other = request;
      other.schedule = static_cast<uint64_t>(k);
      return run_once(terminal, prepared, other, nullptr);
    };
    if (request.traits.clock == interp::ClockDomain::kVirtual) {
      runs.late = [&](std::span<const interp::OrderChoice> choices) {
        interp::BackendRequest other = request;
        for (const interp::OrderChoice& choice : choices) {
          other.delays.push_back(
              {choice.rank, prepared.view->find(choice.late), 2 * first.finished_ns + 1'000'000});
        }
        return run_once(terminal, prepared, other, nullptr);
      };
    }
    HOSTIR_ASSIGN_OR_RETURN(const interp::ScheduleSearch found,
                            interp::search_schedules(first, schedules_, runs));
    bool good = found.other_schedule == 0;
    std::vector<interp::ForcedOrder> orders = found.forced;
    orders.push_back(found.together);
    for (const interp::ForcedOrder& order : orders) {
      for (const Fault& fault : order.faults) report_fault(terminal, prepared, fault);
      if (!order.differs()) continue;
      good = false;
      const std::string what =
          order.faults.empty() ? "changes %" + order.output
                               : "ends in " + interp::fault_name(order.faults.front().record.kind);
      std::vector<std::string> late;
      for (const interp::OrderChoice& choice : order.choices) late.push_back(delay_words(choice));
      terminal.print(terminal.styled(
          fmt::format("delaying {} {}\n", fmt::join(late, " and "), what), Terminal::Style::kBad));
    }
    for (const Fault& fault : found.faults) report_fault(terminal, prepared, fault);
    if (good && quiet_) return true;
    std::string text = fmt::format("{} schedules: the same bits", found.tried);
    if (!found.forced.empty()) {
      std::string forced = fmt::format("{} of {} unordered pairs forced into both orders",
                                       found.forced.size() / 2, found.open.size());
      if (found.combined > 0)
        forced += fmt::format(", {} of {} combinations", found.combined, found.combinations);
      text = good ? forced + ", " + text : forced;
    }
    if (!found.faults.empty())
      text = fmt::format("schedule {} failed", found.other_schedule);
    else if (found.other_schedule != 0)
      text = fmt::format("%{} differs under schedule {} (seed {})", found.other_output,
                         found.other_schedule, request.seed);
    text += found.open.empty()
                ? "; all accesses of the same bytes are ordered, so no other order can give other "
                  "results"
                : fmt::format("; nothing orders {}", fmt::join(found.open, ", nor "));
    const bool all_ordered = good && found.open.empty();
    terminal.print(
        terminal.styled(text + "\n", all_ordered ? Terminal::Style::kGood : Terminal::Style::kBad));
    return good;
  }

  Expected<bool> check_unsharded(Terminal& terminal, const interp::Prepared& prepared,
                                 const interp::BackendRequest& request) {
    interp::RunOptions options;
    options.backend = request;
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::UnshardedReport report,
        interp::check_unsharded(prepared, api::make_backend_factory(), options, tolerance()));
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

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  api::LogOptions log_;
  std::vector<std::string> outputs_;
  std::vector<std::string> expects_;
  std::optional<double> atol_;
  std::optional<double> rtol_;
  std::optional<int64_t> loop_passes_;
  std::optional<std::string> reference_;
  std::optional<std::string> nan_;
  int64_t schedules_ = 1;
  bool p2p_sweep_ = false;
  bool check_unsharded_ = false;
  bool example_inputs_ = false;
  bool shards_ = false;
  bool shapes_only_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace hostir::cli
