#include <fmt/format.h>

#include "hostir/api/backends.h"
#include "hostir/cli/verbs.h"
#include "hostir/io/files.h"
#include "traces/import/open_dumps.h"
#include "traces/profile/open_profiles.h"
#include "traces/profile/profile_run.h"
#include "traces/skeleton/trial.h"
#include "traces/writer/log_builder.h"

namespace hostir::cli {

namespace {

class OpenVerb : public Verb {
 public:
  std::string_view name() const override { return "open"; }
  std::string_view summary() const override {
    return "Open other tools' files about a job: dumps of a hang (who is at fault), profiles (who "
           "is late)";
  }
  std::string_view example() const override {
    return "  hostir open dumps/                          PyTorch Flight Recorder, clog, NCCL "
           "Inspector,\n"
           "                                              RAS and NCCL_DEBUG files, one or more "
           "per rank\n"
           "  hostir open trace_0 trace_1 --json          for scripts; exit status 4 if a rank is "
           "at fault\n"
           "  hostir open dumps/ --program job.hir        the calls as a program: step it with "
           "hostir debug\n"
           "  hostir open profiles/ --trace job.db        PyTorch (Kineto) JSON or Nsight Systems "
           "SQLite of several\n"
           "                                              ranks: whom the others wait for; as a "
           "log for gui and trace";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("path", paths_, "files, or folders of them");
    arguments.flag("--json", json_, "the result as one JSON object");
    arguments.option("--trace", trace_, "write the contents of the files as a log");
    arguments.option("--program", program_,
                     "write what each rank called, in order, as a host program");
    arguments.option("--repaired", repaired_, "the same with the repair that the verdict proposes");
    arguments.flag("--no-trial", no_trial_, "do not test the verdict by running the program");
  }
  int execute(Terminal& terminal) override {
    const auto status = open(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  Expected<int> open(Terminal& terminal) const {
    using namespace traces;
    using namespace traces::import;
    HOSTIR_ASSIGN_OR_RETURN(const OpenedDumps opened, open_dumps(paths_));
    if (opened.run == nullptr) return open_only_profiles(terminal, opened);
    HOSTIR_TRY(write_programs(opened));
    if (!trace_.empty()) {
      LogBuilderOptions options = log_options(verdict_properties(opened.verdict));
      options.judged = diagnose::to_verdict(opened.verdict);
      HOSTIR_TRY(write_log(trace_, *opened.run, options));
    }
    // The trial can take seconds.
    if (!json_) terminal.print(opened.verdict.sentence + "\n");
    Trial trial;
    if (!no_trial_)
      trial = try_verdict(*opened.run, opened.verdict.accusation(), api::make_backend_factory());
    if (json_) {
      terminal.print(to_json(opened, trial.sentence));
    } else {
      if (!trial.sentence.empty()) terminal.print(trial.sentence + "\n");
      terminal.print(notes_text(opened));
      HOSTIR_TRY(print_profiles(terminal, opened));
    }
    return opened.verdict.is_fault() ? exit_status(ErrorKind::kStuck) : 0;
  }

  Expected<int> open_only_profiles(Terminal& terminal,
                                   const traces::import::OpenedDumps& opened) const {
    if (!program_.empty() || !repaired_.empty()) {
      return fail(ErrorKind::kUsage, "no_program",
                  "--program needs dumps: profiles do not record the calls of each rank");
    }
    HOSTIR_ASSIGN_OR_RETURN(traces::profile::JobProfile job,
                            traces::profile::open_profiles(opened.profiles));
    job.notes.insert(job.notes.end(), opened.notes.begin(), opened.notes.end());
    if (!trace_.empty()) {
      HOSTIR_TRY(traces::write_log(trace_, traces::profile::to_run(job),
                                   log_options({{"profile", traces::profile::sentence(job)}})));
    }
    terminal.print(json_ ? to_json(job) : to_text(job));
    return 0;
  }

  // Next to dumps, profiles add which rank was late. An unreadable profile must not hide a verdict.
  static Expected<void> print_profiles(Terminal& terminal,
                                       const traces::import::OpenedDumps& opened) {
    if (opened.profiles.empty()) return {};
    const auto job = traces::profile::open_profiles(opened.profiles);
    terminal.print("\n" + (job ? to_text(*job) : "note: " + job.error().message() + "\n"));
    return {};
  }

  using Properties = std::vector<std::pair<std::string, std::string>>;

  // The log's fault is only what is certain.
  static Properties verdict_properties(const diagnose::RecordedVerdict& verdict) {
    Properties out = {{"verdict", verdict.sentence}};
    if (verdict.accusation().is_fault())
      out.emplace_back("verdict_holds", verdict.is_fault() ? "always" : "if_stuck");
    return out;
  }

  traces::LogBuilderOptions log_options(Properties properties) const {
    traces::LogBuilderOptions options;
    options.command_line = fmt::format("hostir open {}", fmt::join(paths_, " "));
    options.source_name = paths_.front();
    options.properties = std::move(properties);
    return options;
  }

  Expected<void> write_programs(const traces::import::OpenedDumps& opened) const {
    using namespace traces;
    using namespace traces::import;
    if (!program_.empty()) {
      HOSTIR_TRY(io::write_file(program_, program_text(*opened.run, diagnose::job_of(*opened.run),
                                                       opened.verdict.sentence)));
    }
    if (repaired_.empty()) return {};
    const diagnose::RecordedVerdict& verdict = opened.verdict.accusation();
    if (verdict.repair.empty()) {
      return fail(ErrorKind::kUsage, "no_repair",
                  "--repaired: the verdict proposes no repair: " + opened.verdict.sentence);
    }
    return io::write_file(
        repaired_,
        program_text(*opened.run, repaired(*opened.run, verdict.repair), verdict.repair_text));
  }

  std::vector<std::string> paths_;
  bool json_ = false;
  bool no_trial_ = false;
  std::string trace_;
  std::string program_;
  std::string repaired_;
};

}  // namespace

std::unique_ptr<Verb> make_open_verb() { return std::make_unique<OpenVerb>(); }

}  // namespace hostir::cli
