#include <fmt/core.h>

#include "hostir/api/open/open_session.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/text.h"
#include "interp/session/diff/run_diff_report.h"
#include "interp/session/diff/run_times_diff.h"

namespace hostir::cli {

namespace {

class DiffVerb : public Verb {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "Compare two logs: structure first, then values";
  }
  std::string_view example() const override {
    return "  hostir diff a.db b.db                     exit status 1 and one line per difference\n"
           "  hostir diff a.db b.db --rtol 1e-5         contents that a log did not keep "
           "(--trace-values data=*) are computed again\n"
           "  hostir diff sim.db cuda.db --times        predicted and measured times per kernel "
           "and "
           "collective";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("a", a_, "a log");
    arguments.positional("b", b_, "another one");
    arguments.option("--atol", tolerance_.absolute, "absolute tolerance");
    arguments.option("--rtol", tolerance_.relative, "relative tolerance");
    arguments.flag("--times", times_, "compare times instead: medians per kernel and collective");
  }
  int execute(Terminal& terminal) override {
    const auto status = compare(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  static Expected<interp::DiffSide> read(const std::string& path) {
    interp::DiffSide side;
    HOSTIR_ASSIGN_OR_RETURN(side.run, api::SessionOpener({}).open_for_comparison(path));
    side.log = side.run->log();
    interp::DiffProgress progress;
    HOSTIR_ASSIGN_OR_RETURN(interp::RunWrites writes,
                            interp::read_writes_of(*side.log, std::nullopt, progress, {}));
    side.writes = std::make_shared<const interp::RunWrites>(std::move(writes));
    return side;
  }

  Expected<int> print_times(Terminal& terminal) const {
    const api::SessionOpener opener({});
    HOSTIR_ASSIGN_OR_RETURN(const auto a, opener.open_for_comparison(a_));
    HOSTIR_ASSIGN_OR_RETURN(const auto b, opener.open_for_comparison(b_));
    HOSTIR_ASSIGN_OR_RETURN(const auto rows, interp::compare_times(*a->log(), *b->log(), {}));
    if (rows.empty()) {
      return fail(ErrorKind::kInvalid, "diff_times",
                  fmt::format("{} and {} have no kernel or collective in common", a_, b_));
    }
    terminal.print(
        fmt::format("{:18} {:24} {:>12} {:>12} {:>8}\n", "", "", "first", "second", "error"));
    for (const interp::TimesRow& row : rows) {
      terminal.print(fmt::format("{:18} {:24} {:>12} {:>12} {:>7.1f}%\n", row.address, row.what,
                                 time_text(row.a_ns), time_text(row.b_ns),
                                 (row.a_ns / row.b_ns - 1) * 100));
    }
    terminal.print(
        fmt::format("{} kernels and collectives; geometric mean error of the first log's "
                    "times {:.1f} %\n",
                    rows.size(), interp::mean_time_error(rows) * 100));
    return 0;
  }

  Expected<int> compare(Terminal& terminal) const {
    if (times_) return print_times(terminal);
    HOSTIR_ASSIGN_OR_RETURN(interp::DiffSide a, read(a_));
    HOSTIR_ASSIGN_OR_RETURN(interp::DiffSide b, read(b_));
    HOSTIR_ASSIGN_OR_RETURN(const interp::RunDiff diff,
                            interp::compare_runs(std::move(a), std::move(b), {}));
    HOSTIR_ASSIGN_OR_RETURN(const interp::DiffReport report, interp::report(diff, tolerance_, {}));
    for (const std::string& note : report.notes) terminal.print("note: " + note + "\n");
    for (const std::string& line : report.differences) terminal.print(line + "\n");
    if (!report.differences.empty()) return 1;
    terminal.print(fmt::format("equal: {} instructions, {} values\n",
                               diff.b.log->instructions().size(), diff.rows.size()));
    return 0;
  }

  std::string a_;
  std::string b_;
  bool times_ = false;
  interp::DiffTolerance tolerance_;
};

}  // namespace

std::unique_ptr<Verb> make_diff_verb() { return std::make_unique<DiffVerb>(); }

}  // namespace hostir::cli
