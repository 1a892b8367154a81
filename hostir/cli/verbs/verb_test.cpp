#include <fmt/core.h>

#include <algorithm>

#include "hostir/api/open/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"
#include "hostir/script/runner.h"

namespace hostir::cli {

namespace {

class TestVerb : public Verb {
 public:
  std::string_view name() const override { return "test"; }
  std::string_view summary() const override { return "Run the tests that `.hir` files hold"; }
  std::string_view example() const override {
    return "  hostir test tests/programs tests/scripts -j 2        closes with `N passed, N "
           "failed`\n"
           "  hostir test my.hir --filter 'uneven*' --schedules 20\n"
           "  hostir test my.hir --update                          rewrite expected values and "
           "texts";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("paths", paths_, "`.hir` files, or folders of them");
    arguments.option("-j,--jobs", jobs_, "number of files run at a time",
                     {.least = 1, .most = 1024});
    arguments.option("--filter", filter_, "only tests whose `file: title` matches");
    arguments.flag("--update", update_, "rewrite what is expected instead of failing");
    arguments.option("--junit", junit_, "write a JUnit XML file");
    arguments.option("--schedules", schedules_, "minimum number of schedules for each run",
                     {.least = 1});
    arguments.flag("-v,--verbose", verbose_, "print a line for every test, not only for failures");
    declare_backend(backend_, arguments);
  }
  int execute(Terminal& terminal) override {
    script::TestOptions options;
    options.filter = filter_;
    options.jobs = static_cast<int>(jobs_);
    options.update = update_ ? script::TestOptions::Update::kYes : script::TestOptions::Update::kNo;
    options.schedules = schedules_;
    options.max_steps = static_cast<uint64_t>(std::max<int64_t>(0, backend_.max_steps));
    auto request = backend_.request(Program());
    if (!request) return terminal.report(request.error());
    options.backend = *request;
    options.progress = [&terminal](size_t begun, size_t files) {
      terminal.progress(fmt::format("file {} of {}", begun + 1, files));
    };
    auto report = script::run_tests(paths_, options, api::make_backend_factory());
    if (report && report->updated_files > 0) {  // check that the written files pass
      const int64_t updated = report->updated_files;
      options.update = script::TestOptions::Update::kNo;
      report = script::run_tests(paths_, options, api::make_backend_factory());
      if (report) report->updated_files = updated;
    }
    if (!report) return terminal.report(report.error());
    if (!junit_.empty()) {
      const auto written = io::write_file(junit_, script::to_junit(*report));
      if (!written) return terminal.report(written.error());
    }
    if (verbose_) print_all(terminal, *report);
    terminal.print(script::to_text(*report));
    note_files_without_tests(terminal, *report);
    if (report->cases.empty()) {  // a typo in a name must not look like success
      return terminal.report(
          fail(ErrorKind::kUsage, "usage", "no test matches --filter " + filter_).value());
    }
    return report->failed() == 0 ? 0 : 1;
  }

 private:
  // Applies to files named on the command line, not to those found in folders.
  void note_files_without_tests(Terminal& terminal, const script::TestReport& report) const {
    for (const std::string& path : paths_) {
      bool known = false;
      bool has_test = false;
      for (const script::TestCase& c : report.cases) {
        known = known || c.file == path;
        // A file that does not parse may have tests.
        has_test = has_test || (c.file == path && (c.line > 0 || !c.passed()));
      }
      if (!known || has_test || !filter_.empty()) continue;
      terminal.note(path + " has no `test` piece: only its text was checked");
    }
  }

  static void print_all(Terminal& terminal, const script::TestReport& report) {
    for (const script::TestCase& c : report.cases) {
      const auto style = c.passed() ? Terminal::Style::kGood : Terminal::Style::kBad;
      terminal.print(fmt::format("{} {}: {}  {:.3f} s\n",
                                 terminal.styled(c.passed() ? "ok    " : "FAILED", style), c.file,
                                 c.title, c.seconds));
    }
  }

  std::vector<std::string> paths_;
  int64_t jobs_ = 1;
  int64_t schedules_ = 1;
  std::string filter_;
  std::string junit_;
  bool update_ = false;
  bool verbose_ = false;
  api::BackendOptions backend_;
};

}  // namespace

std::unique_ptr<Verb> make_test_verb() { return std::make_unique<TestVerb>(); }

}  // namespace hostir::cli
