#include <fmt/format.h>

#include "hostir/api/backends.h"
#include "hostir/cli/verbs.h"
#include "hostir/io/files.h"
#include "traces/import/open_dumps.h"
#include "traces/skeleton/trial.h"

namespace hostir::cli {

namespace {

class OpenVerb : public Verb {
 public:
  std::string_view name() const override { return "open"; }
  std::string_view summary() const override {
    return "Open other tools' dumps of a job that hangs: who is at fault, and where";
  }
  std::string_view example() const override {
    return "  hostir open dumps/                          PyTorch Flight Recorder, clog, NCCL "
           "Inspector,\n"
           "                                              RAS and NCCL_DEBUG files, one or more "
           "per rank\n"
           "  hostir open trace_0 trace_1 --json          for scripts; exit status 4 where "
           "somebody is at fault\n"
           "  hostir open dumps/ --program job.hir        the calls as a program: step it with "
           "hostir debug";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("path", paths_, "files, or folders of them");
    arguments.flag("--json", json_, "the verdict as one JSON object");
    arguments.option("--program", program_,
                     "write what each rank called, in order, as a host program");
    arguments.option("--repaired", repaired_, "the same with the repair that the verdict proposes");
    arguments.flag("--no-trial", no_trial_, "do not run the program to try the verdict");
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
    HOSTIR_TRY(write_programs(opened));
    Trial trial;
    if (!no_trial_) trial = try_verdict(*opened.run, opened.verdict, api::make_backend_factory());
    terminal.print(json_ ? to_json(opened, trial.sentence) : to_text(opened, trial.sentence));
    return opened.verdict.is_fault() ? exit_status(ErrorKind::kStuck) : 0;
  }

  Expected<void> write_programs(const traces::import::OpenedDumps& opened) const {
    using namespace traces;
    using namespace traces::import;
    if (!program_.empty()) {
      HOSTIR_TRY(io::write_file(
          program_, program_text(*opened.run, job_of(*opened.run), opened.verdict.sentence)));
    }
    if (repaired_.empty()) return {};
    if (opened.verdict.repair.empty()) {
      return fail(ErrorKind::kUsage, "no_repair",
                  "--repaired: the verdict proposes no repair: " + opened.verdict.sentence);
    }
    return io::write_file(repaired_,
                          program_text(*opened.run, repaired(*opened.run, opened.verdict.repair),
                                       opened.verdict.repair_text));
  }

  std::vector<std::string> paths_;
  bool json_ = false;
  bool no_trial_ = false;
  std::string program_;
  std::string repaired_;
};

}  // namespace

std::unique_ptr<Verb> make_open_verb() { return std::make_unique<OpenVerb>(); }

}  // namespace hostir::cli
