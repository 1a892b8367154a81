// The tables computed from the timeline against the views that unpack every event.
#include "traces/computed/computed_tables.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch_directory.h"
#include "tests/unit/traces/synthetic_run.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {
namespace {

constexpr int kTableRanks = 3;

std::unique_ptr<LogReader> log_of(const std::string& path, int64_t iterations) {
  auto writer = TraceWriter::create(path, testing::synthetic_description(kTableRanks));
  EXPECT_TRUE(writer);
  testing::SyntheticRun run(**writer, kTableRanks);
  run.iterate(iterations);
  EXPECT_TRUE((*writer)->close());
  auto log = open_log(path);
  EXPECT_TRUE(log) << log.error().message();
  EXPECT_TRUE((*log)->refresh());
  return std::move(*log);
}

std::vector<std::vector<interp::LogCell>> rows_of(const LogReader& log, const std::string& sql) {
  const auto table = log.query(sql);
  EXPECT_TRUE(table) << sql << ": " << table.error().message();
  return table ? table->rows : std::vector<std::vector<interp::LogCell>>{};
}

void expect_same(const LogReader& log, const std::string& computed, const std::string& view) {
  const auto ours = rows_of(log, computed);
  EXPECT_FALSE(ours.empty()) << computed;
  EXPECT_EQ(ours, rows_of(log, view)) << computed;
}

void expect_views(const LogReader& log) {
  const std::string columns =
      "communicator, group_index, sequence, kind, reduction, dtype, count, bytes, arrived, "
      "member_count, first_arrival_ns, last_arrival_ns, skew_ns, start_ns, finish_ns, duration_ns, "
      "algbw_bytes_per_s, busbw_bytes_per_s, address, group_address ";
  expect_same(log, "SELECT " + columns + "FROM collectives",
              "SELECT " + columns + "FROM v_collectives");
  expect_same(log,
              "SELECT instruction, rank, times, total_ns, least_ns, most_ns FROM instruction_times "
              "WHERE track != 'host' ORDER BY 1, 2",
              "SELECT instruction, rank, COUNT(*), SUM(finish_ns - start_ns), MIN(finish_ns - "
              "start_ns), MAX(finish_ns - start_ns) FROM event WHERE stream IS NOT NULL "
              "GROUP BY 1, 2 ORDER BY 1, 2");
  expect_same(log, "SELECT * FROM exposed_communication",
              "SELECT rank, CAST(compute_ns AS INTEGER), CAST(communication_ns AS INTEGER), "
              "CAST(exposed_ns AS INTEGER), CAST(overlapped_ns AS INTEGER), CAST(idle_ns AS "
              "INTEGER) FROM v_exposed_communication");
  expect_same(log, "SELECT rank, peak_bytes FROM peak_memory",
              "SELECT rank, peak_bytes FROM v_peak_memory");
  expect_same(log,
              "SELECT event, rank, waited_ns, reason, waited_for_event FROM slowest_waits "
              "ORDER BY 1, 4",
              "SELECT event, rank, waited_ns, reason, waited_for_event FROM (SELECT * FROM "
              "v_slowest_waits ORDER BY waited_ns DESC, event LIMIT 1000) ORDER BY 1, 4");
}

TEST(ComputedTables, SayWhatTheViewsSay) {
  const ScratchDirectory scratch;
  const auto plain = log_of(scratch.file("plain.db"), 100);  // read from the events
  EXPECT_EQ(rows_of(*plain, "SELECT 1 FROM timeline_chunk").size(), 0U);
  expect_views(*plain);
  const auto stored = log_of(scratch.file("stored.db"), 3000);  // from the stored timeline
  EXPECT_GT(rows_of(*stored, "SELECT 1 FROM timeline_chunk").size(), 0U);
  expect_views(*stored);
}

TEST(ComputedTables, AreListedAndJoinWithTables) {
  const ScratchDirectory scratch;
  const auto log = log_of(scratch.file("run.db"), 100);
  EXPECT_EQ(rows_of(*log, "SELECT name FROM computed_tables").size(), computed_tables().size());
  for (const ComputedTable& table : computed_tables()) {
    const auto columns = rows_of(*log, "PRAGMA table_info(" + std::string(table.name) + ")");
    ASSERT_GT(columns.size(), 1U) << table.name;
    for (const auto& row : rows_of(*log, "SELECT * FROM " + std::string(table.name)))
      ASSERT_EQ(row.size(), columns.size()) << table.name;
  }
  const auto joined = rows_of(*log,
                              "SELECT i.op, t.times FROM instruction i JOIN instruction_times t "
                              "ON t.instruction = i.id WHERE t.track = 'comm' AND t.rank = 0");
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0][0], interp::LogCell(std::string("all_reduce")));
  EXPECT_EQ(joined[0][1], interp::LogCell(int64_t{100}));
}

TEST(ComputedTables, StopWhenTheQueryIsCancelled) {
  const ScratchDirectory scratch;
  const auto log = log_of(scratch.file("run.db"), 3000);
  std::stop_source source;
  source.request_stop();
  for (const char* name :
       {"instruction_times", "exposed_communication", "slowest_waits", "collectives"}) {
    const auto table = log->query("SELECT * FROM " + std::string(name), 10, source.get_token());
    ASSERT_FALSE(table) << name;
    EXPECT_EQ(table.error().diagnostics[0].id, "log_cancelled") << name;
  }
}

}  // namespace
}  // namespace hostir::traces
