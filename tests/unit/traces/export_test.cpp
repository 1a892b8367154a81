// Export, headless tables and diff on a synthetic run.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "hostir/support/glob.h"
#include "interp/session/run_diff_report.h"
#include "synthetic_run.h"
#include "traces/export_chrome.h"
#include "traces/log_reader.h"
#include "traces/queries.h"
#include "traces/trace_writer.h"

namespace hostir::traces {
namespace {

using testing::ScratchDirectory;
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

/// How a document violates the Chrome trace event format; empty if it does not.
std::string check_chrome_trace(const nlohmann::json& document) {
  if (!document.is_object() || !document.contains("traceEvents")) return "no traceEvents";
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> slices;
  std::map<int64_t, std::vector<std::string>> flows;
  const std::set<std::string> phases = {"X", "M", "C", "s", "f"};
  for (const nlohmann::json& e : document["traceEvents"]) {
    const std::string phase = e.value("ph", "");
    if (phases.count(phase) == 0) return "unknown phase: " + e.dump();
    if (!e.contains("name") || !e["name"].is_string()) return "no name: " + e.dump();
    if (!e.contains("pid") || !e["pid"].is_number_integer()) return "no pid: " + e.dump();
    if (!e.contains("tid") || !e["tid"].is_number_integer()) return "no tid: " + e.dump();
    if (phase == "M") {
      if (!e.contains("args") || !e["args"].is_object()) return "no args: " + e.dump();
      continue;
    }
    if (!e.contains("ts") || !e["ts"].is_number()) return "no ts: " + e.dump();
    const auto ns = [&](const char* key) {
      return static_cast<int64_t>(e[key].get<double>() * 1000 + 0.5);
    };
    if (phase == "X") {
      if (!e.contains("dur") || !e["dur"].is_number() || e["dur"].get<double>() < 0) {
        return "bad dur: " + e.dump();
      }
      slices[{e["pid"], e["tid"]}].emplace_back(ns("ts"), ns("ts") + ns("dur"));
    }
    if (phase == "C") {
      for (const auto& [key, value] : e["args"].items()) {
        if (!value.is_number()) return "counter is no number: " + e.dump();
      }
    }
    if (phase == "s" || phase == "f") {
      if (!e.contains("id") || !e.contains("cat")) return "flow without id: " + e.dump();
      flows[e["id"].get<int64_t>()].push_back(phase);
    }
  }
  for (auto& [thread, list] : slices) {
    std::sort(list.begin(), list.end());
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].first < list[i - 1].second && list[i].second > list[i - 1].second) {
        return "slices of one thread cross";
      }
    }
  }
  for (const auto& [id, ends] : flows) {
    if (ends != std::vector<std::string>{"s", "f"}) return "a flow has not one start and one end";
  }
  return {};
}

TEST(Export, IsAValidChromeTrace) {
  const ScratchDirectory scratch;
  const auto log = make_log(scratch.file("run.db"), 10);
  ASSERT_NE(log, nullptr);
  std::ostringstream out;
  const auto written = export_chrome(*log, out);
  ASSERT_TRUE(written) << written.error().message();
  const nlohmann::json document = nlohmann::json::parse(out.str(), nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  EXPECT_EQ(check_chrome_trace(document), "");
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

class LoggedRun final : public interp::PastRun {
 public:
  explicit LoggedRun(std::unique_ptr<LogReader> log) : log_(std::move(log)) {}
  const interp::LogView* log() const override { return log_.get(); }

 private:
  std::unique_ptr<LogReader> log_;
};

// Differences of two logs with values, of so many iterations.
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
