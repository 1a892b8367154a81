#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "hostir/cli/interrupt.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/unix_time.h"
#include "traces/import/job_watch.h"
#include "traces/job/open_job.h"

namespace hostir::cli {

namespace {

using traces::import::JobLook;
using traces::import::JobState;
using traces::import::OpenedDumps;
using Clock = std::chrono::steady_clock;

class WatchVerb : public Verb {
 public:
  std::string_view name() const override { return "watch"; }
  std::string_view summary() const override {
    return "Follow a running job: which ranks stop advancing, and who the others wait for";
  }
  std::string_view example() const override {
    return "  NCCL_PROFILER_PLUGIN=.../libhostir_nccl.so HOSTIR_NCCL_DIR=job torchrun ... "
           "train.py\n"
           "  hostir watch job                  until Ctrl-C; the job may start later\n"
           "  hostir watch job --once           ends with the first stall, exit status 4, or with "
           "the job\n"
           "  hostir watch job --once --stall 60 --timeout 3600\n"
           "Files of other recorders are followed too, where they are written during the run.";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("path", paths_, "folders or files, as for `hostir open`");
    arguments.flag("--once", once_,
                   "end with the first stall (exit status 4), or when the job is over (0)");
    arguments.flag("--json", json_, "every verdict as a JSON object, as with `hostir open --json`");
    arguments.option("--stall", stall_s_,
                     "seconds without progress after which a rank that others wait for is named "
                     "(default 5)");
    arguments.option("--interval", interval_s_, "seconds between two checks (default 1)");
    arguments.option(
        "--timeout", timeout_s_,
        "end after this many seconds, with exit status 4 if the job is stalled, else 0");
  }
  int execute(Terminal& terminal) override {
    const auto status = watch(terminal);
    terminal.end_progress();
    return status ? *status : terminal.report(status.error());
  }

 private:
  static std::string quiet_text(int64_t ns) {
    const double s = static_cast<double>(ns) / 1e9;
    if (s < 3600) return fmt::format("{:.1f} s", s);
    return s < 86'400 ? fmt::format("{:.1f} hours", s / 3600)
                      : fmt::format("{:.1f} days", s / 86'400);
  }
  // nullopt: go on.
  Expected<std::optional<int>> look(Terminal& terminal) {
    const auto exists = [](const std::string& path) { return std::filesystem::exists(path); };
    if (!std::all_of(paths_.begin(), paths_.end(), exists)) {
      terminal.progress("nothing to read yet");
      return std::optional<int>();
    }
    auto opened = traces::import::open_dumps(paths_);
    if (!opened && opened.error().diagnostics.front().id != "import_files")
      return tl::unexpected(std::move(opened.error()));
    // A job that starts has no file yet, or only a profile.
    if (!opened || opened->run == nullptr) {
      terminal.progress("nothing to read yet");
      return std::optional<int>();
    }
    const JobLook seen = watch_.look(*opened, unix_time_ns());
    // A job that does not move is stuck, even if its calls are young.
    if (seen.state == JobState::kStalled) *opened = taken_as_stuck(std::move(*opened));
    tell(terminal, *opened, seen);
    terminal.flush();
    state_ = seen.state;
    has_read_ = true;
    if (!once_ || seen.state == JobState::kMoving) return std::optional<int>();
    return std::optional(seen.state == JobState::kStalled ? exit_status(ErrorKind::kStuck) : 0);
  }

  void tell(Terminal& terminal, const OpenedDumps& opened, const JobLook& seen) {
    const std::string counts = fmt::format("{} ranks, {} of {} calls completed",
                                           opened.run->ranks.size(), seen.completed, seen.calls);
    if (seen.state == JobState::kMoving) {
      if (!told_.empty()) terminal.note("it moves again: " + counts);
      told_.clear();
      terminal.progress(counts);
      return;
    }
    if (opened.verdict.sentence == told_) return;
    told_ = opened.verdict.sentence;
    terminal.end_progress();
    const traces::OpenedJob job{opened, {}, {}};
    if (json_) {
      terminal.print(to_json(job));
      return;
    }
    if (seen.state == JobState::kStalled) {
      terminal.print(fmt::format("no progress for {}: {}\n", quiet_text(seen.quiet_ns), counts));
      terminal.print(headline(job) + "\n" + rest(job));
    } else {
      terminal.print("the job is over: " + counts + "\n");
    }
  }

  Expected<int> watch(Terminal& terminal) {
    watch_ = traces::import::JobWatch(static_cast<int64_t>(stall_s_ * 1e9));
    const InterruptGuard guard;
    const auto begin = Clock::now();
    const auto seconds = [](double s) {
      return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
    };
    while (!guard.token().stop_requested()) {
      const auto looked = Clock::now();
      HOSTIR_ASSIGN_OR_RETURN(const std::optional<int> status, look(terminal));
      if (status) return *status;
      if (timeout_s_ && Clock::now() - begin >= seconds(*timeout_s_)) {
        terminal.end_progress();
        if (!has_read_) {
          terminal.note(fmt::format("no file of a job appeared within {:g} s: {}", *timeout_s_,
                                    fmt::join(paths_, ", ")));
        }
        return state_ == JobState::kStalled ? exit_status(ErrorKind::kStuck) : 0;
      }
      // Large jobs take long to read; watching must not load the machine.
      constexpr int kRest = 4;
      const auto took = Clock::now() - looked;
      const auto next = Clock::now() + std::max(seconds(interval_s_), took * kRest);
      while (Clock::now() < next && !guard.token().stop_requested())
        std::this_thread::sleep_for(std::min<Clock::duration>(seconds(0.05), next - Clock::now()));
    }
    return 0;
  }

  std::vector<std::string> paths_;
  bool once_ = false;
  bool json_ = false;
  double stall_s_ = 5;
  double interval_s_ = 1;
  std::optional<double> timeout_s_;
  traces::import::JobWatch watch_{0};
  JobState state_ = JobState::kMoving;
  bool has_read_ = false;
  std::string told_;  // the last verdict that was printed
};

}  // namespace

std::unique_ptr<Verb> make_watch_verb() { return std::make_unique<WatchVerb>(); }

}  // namespace hostir::cli
