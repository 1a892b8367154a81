#include <fmt/core.h>

#include <atomic>
#include <thread>

#include "hostir/api/open/backends.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"
#include "hostir/script/report.h"
#include "traces/replay/replay.h"

namespace hostir::cli {

namespace {

class ReplayVerb : public Verb {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view summary() const override {
    return "Run recorded programs again and compare every event";
  }
  std::string_view example() const override {
    return "  hostir replay run.db                       exit status 1 and the first divergence "
           "where it differs\n"
           "  hostir replay logs/*.db -j 2 --junit replay.xml";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("logs", logs_, "logs");
    arguments.option("-j,--jobs", jobs_, "number of logs replayed at a time",
                     {.least = 1, .most = 1024});
    arguments.option("--junit", junit_, "write a JUnit XML file");
  }
  int execute(Terminal& terminal) override {
    std::vector<Result> results(logs_.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < logs_.size(); i = next++)
        results[i].report = traces::replay(logs_[i], api::make_backend_factory());
    };
    {
      std::vector<std::jthread> threads;
      for (int64_t j = 1; j < std::min<int64_t>(jobs_, static_cast<int64_t>(logs_.size())); ++j)
        threads.emplace_back(work);
      work();
    }
    int status = 0;
    script::TestReport junit;
    for (size_t i = 0; i < logs_.size(); ++i)
      status = std::max(status, print(terminal, logs_[i], results[i], junit));
    if (logs_.size() > 1)
      terminal.print(fmt::format("{} passed, {} failed\n", junit.passed(), junit.failed()));
    if (!junit_.empty()) {
      const auto written = io::write_file(junit_, script::to_junit(junit));
      if (!written) return terminal.report(written.error());
    }
    return status;
  }

 private:
  struct Result {
    Expected<traces::ReplayReport> report;
  };

  static int print(Terminal& terminal, const std::string& log, const Result& result,
                   script::TestReport& junit) {
    script::TestCase test;
    test.file = log;
    test.title = "replay";
    int status = 0;
    if (!result.report) {
      test.failures.push_back(result.report.error().message());
      status = terminal.report(result.report.error());
    } else {
      const bool equal = !result.report->divergence;
      terminal.print(
          terminal.styled(log + ": ", equal ? Terminal::Style::kGood : Terminal::Style::kBad) +
          traces::to_string(*result.report) + "\n");
      if (!equal) test.failures.push_back(result.report->divergence->sentence);
      status = equal ? 0 : 1;
    }
    junit.cases.push_back(std::move(test));
    return status;
  }

  std::vector<std::string> logs_;
  int64_t jobs_ = 1;
  std::string junit_;
};

}  // namespace

std::unique_ptr<Verb> make_replay_verb() { return std::make_unique<ReplayVerb>(); }

}  // namespace hostir::cli
