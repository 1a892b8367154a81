// Export, headless tables and diff on a synthetic run.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hostir/support/glob.h"
#include "interp/session/diff/run_diff_report.h"
#include "synthetic_run.h"
#include "tests/unit/scratch_directory.h"
#include "traces/export/export_chrome.h"
#include "traces/export/queries.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {
namespace {

using testing::synthetic_description;
using testing::SyntheticRun;

std::unique_ptr<LogReader> make_log(const std::string& path, int64_t iterations,
                                    bool values = false) {
  auto writer = TraceWriter::create(path, synthetic_description(3));
  EXPECT_TRUE(writer);
  SyntheticRun run(**writer, 3);
  run.iterate(iterations, values);
  EXPECT_TRUE((*writer)->close());
  auto log = open_log(path);
  EXPECT_TRUE(log);
  return log ? std::move(*log) : nullptr;
}

// tests/checks/chrome_trace.py validates the format.
TEST(Export, HasEveryTaskArrowAndCounter) {
  const ScratchDirectory scratch;
  const auto log = make_log(scratch.file("run.db"), 10);
  ASSERT_NE(log, nullptr);
  std::ostringstream out;
  const auto written = export_chrome(*log, out);
  ASSERT_TRUE(written) << written.error().message();
  const nlohmann::json document = nlohmann::json::parse(out.str(), nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  std::map<std::string, int> phases;
  std::set<std::string> threads;
  for (const nlohmann::json& e : document["traceEvents"]) {
    ++phases[e["ph"]];
    if (e["name"] == "thread_name") threads.insert(e["args"]["name"]);
  }
  EXPECT_EQ(phases["X"], 120 + 90) << "each instruction on its host, tasks on their streams too";
  EXPECT_EQ(phases["s"], 20) << "two arrows per all_reduce of three";
  EXPECT_EQ(phases["C"], 30);
  EXPECT_EQ(threads, (std::set<std::string>{"host", "stream compute", "stream comm"}));
}

TEST(Queries, PrintInEveryFormat) {
  const ScratchDirectory scratch;
  const auto log = make_log(scratch.file("run.db"), 2);
  ASSERT_NE(log, nullptr);
  const auto info = info_table(*log);
  const auto events = events_table(*log, "rank=2 op=wait", 1000);
  const auto collectives = collectives_table(*log);
  const auto memory = memory_table(*log);
  ASSERT_TRUE(info && events && collectives && memory);
  EXPECT_EQ(events->rows.size(), 2U);
  EXPECT_EQ(collectives->rows.size(), 2U);
  EXPECT_EQ(events_table(*log, "rank=2 op=wait", 1)->rows.size(), 1U);
  EXPECT_FALSE(events_table(*log, "colour=red", 1));
  EXPECT_EQ(memory->rows.size(), 3U);
  EXPECT_NE(print_table(*info, TableFormat::kTable).find("@f"), std::string::npos);

  interp::LogTable table;
  table.columns = {"a", "b"};
  table.rows = {{interp::LogCell(int64_t{1}), interp::LogCell(std::string("x,\"y\""))},
                {interp::LogCell(), interp::LogCell(0.5)}};
  EXPECT_EQ(print_table(table, TableFormat::kCsv), "a,b\n1,\"x,\"\"y\"\"\"\n,0.5\n");
  EXPECT_EQ(nlohmann::json::parse(print_table(table, TableFormat::kJson)),
            nlohmann::json::parse(R"([{"a": 1, "b": "x,\"y\""}, {"a": null, "b": 0.5}])"));
  EXPECT_EQ(print_table(table, TableFormat::kTable), "a  b\n1  x,\"y\"\n   0.5\n");
  EXPECT_FALSE(parse_table_format("xml"));
}

class LoggedRun final : public interp::ReplaySource {
 public:
  explicit LoggedRun(std::unique_ptr<LogReader> log) : log_(std::move(log)) {}
  const interp::LogView* log() const override { return log_.get(); }

 private:
  std::unique_ptr<LogReader> log_;
};

// The differences of two logs with values, each with the given number of iterations.
std::vector<std::string> differences(int64_t in_a, int64_t in_b) {
  const ScratchDirectory scratch;
  std::vector<interp::DiffSide> sides;
  for (const int64_t iterations : {in_a, in_b}) {
    interp::DiffProgress progress;
    const std::string path = scratch.file(sides.empty() ? "a.db" : "b.db");
    interp::DiffSide side;
    side.run = std::make_shared<LoggedRun>(make_log(path, iterations, true));
    side.log = side.run->log();
    auto writes = interp::read_writes_of(*side.log, std::nullopt, progress, {});
    EXPECT_TRUE(writes);
    if (writes) side.writes = std::make_shared<const interp::RunWrites>(std::move(*writes));
    sides.push_back(std::move(side));
  }
  const auto diff = interp::compare_runs(sides.at(0), sides.at(1), {});
  EXPECT_TRUE(diff);
  const auto again = sides.at(0).run->past_contents({}, {}, {});
  EXPECT_EQ(again ? "" : again.error().diagnostics.front().id, "no_stepping");
  const auto report = interp::report(*diff, {}, {});
  EXPECT_TRUE(report);
  return report->differences;
}

TEST(Diff, EqualLogsAreEqualAndOthersAreNamed) {
  EXPECT_EQ(differences(5, 5), std::vector<std::string>());
  const std::string text = fmt::format("{}", fmt::join(differences(5, 6), "\n"));
  EXPECT_NE(text.find(" executed "), std::string::npos) << text;
  EXPECT_NE(text.find("sequence number 5: no such meeting in A"), std::string::npos) << text;
}

TEST(Glob, Matches) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("w?", "w1"));
  EXPECT_TRUE(glob_match("*a*b", "xxaxxb"));
  EXPECT_FALSE(glob_match("*a*b", "xxaxxbc"));
  EXPECT_FALSE(glob_match("w", "w1"));
}

}  // namespace
}  // namespace hostir::traces
