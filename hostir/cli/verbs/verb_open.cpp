#include <fmt/format.h>

#include "hostir/api/open/backends.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"
#include "traces/job/open_job.h"

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
           "log for gui and trace\n"
           "Exit status 4: a rank is at fault, or others wait for a rank that left no file.\n"
           "Exit status 0: nobody is accused. The job is healthy, slow or may still move, or the "
           "file that\n"
           "would show who is at fault cannot be read.";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("path", paths_, "files, or folders of them");
    arguments.flag("--json", json_, "the result as one JSON object");
    arguments.option("--trace", trace_, "write the contents of the files as a log");
    arguments.option("--program", program_,
                     "write what each rank called, in order, as a host program");
    arguments.option("--repaired", repaired_,
                     "like --program, with the repair that the verdict proposes");
    arguments.flag("--no-trial", no_trial_, "do not test the verdict by running the program");
  }
  int execute(Terminal& terminal) override {
    const auto status = open(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  Expected<int> open(Terminal& terminal) const {
    HOSTIR_ASSIGN_OR_RETURN(traces::OpenedJob job, traces::open_job(paths_));
    HOSTIR_TRY(write_programs(job.dumps));
    // The trial can take seconds.
    if (!json_) terminal.print(headline(job) + "\n");
    if (!no_trial_) try_out(job, api::make_backend_factory());
    if (!trace_.empty()) {
      HOSTIR_TRY(write_job_log(job, trace_, fmt::format("hostir open {}", fmt::join(paths_, " ")),
                               paths_.front()));
    }
    terminal.print(json_ ? to_json(job) : rest(job));
    return job.dumps.verdict.is_fault() ? exit_status(ErrorKind::kStuck) : 0;
  }

  Expected<void> write_programs(const traces::import::OpenedDumps& opened) const {
    using namespace traces;
    if (program_.empty() && repaired_.empty()) return {};
    if (opened.run == nullptr) {
      return fail(ErrorKind::kUsage, "no_program",
                  "--program needs dumps: profiles do not record the calls of each rank");
    }
    const diagnose::RecordedVerdict& verdict = opened.verdict.accusation();
    const diagnose::Passing passing = passing_in_trial(*opened.run, verdict);
    if (!program_.empty()) {
      HOSTIR_TRY(io::write_file(
          program_,
          skeleton_of(*opened.run, job_of(*opened.run, passing), opened.verdict.sentence).text));
    }
    if (repaired_.empty()) return {};
    if (verdict.repair.empty()) {
      return fail(ErrorKind::kUsage, "no_repair",
                  "--repaired: the verdict proposes no repair: " + opened.verdict.sentence);
    }
    return io::write_file(repaired_,
                          skeleton_of(*opened.run, repaired(*opened.run, verdict.repair, passing),
                                      verdict.repair_text)
                              .text);
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
