// Writer and reader together: what is written is read back.

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "synthetic_run.h"
#include "tests/unit/scratch_directory.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {
namespace {

using testing::synthetic_description;
using testing::SyntheticRun;

int64_t count(const LogReader& log, const std::string& sql) {
  const auto table = log.query(sql);
  EXPECT_TRUE(table) << sql << ": " << table.error().message();
  return table && !table->rows.empty() ? std::get<int64_t>(table->rows[0][0]) : -1;
}

std::unique_ptr<LogReader> open_or_fail(const std::string& path) {
  auto log = open_log(path);
  EXPECT_TRUE(log) << log.error().message();
  return log ? std::move(*log) : nullptr;
}

/// Plain rows, packed rows and a mix of both must give the same results.
class LogTest : public ::testing::TestWithParam<int64_t> {
 protected:
  std::string write(int64_t iterations, interp::Rank ranks) {
    const std::string path = scratch_.file("run.db");
    TraceOptions options;
    options.plain_events = GetParam();
    auto writer = TraceWriter::create(path, synthetic_description(ranks), options);
    EXPECT_TRUE(writer) << writer.error().message();
    SyntheticRun run(**writer, ranks);
    run.iterate(iterations, /*log_values=*/true);
    (*writer)->fault({"leak", "rank 1 leaks %g", {1}, {"@f#1"}, {"note \"quoted\""}});
    const auto closed = (*writer)->close();
    EXPECT_TRUE(closed) << closed.error().message();
    EXPECT_EQ(closed->events, run.events());
    return path;
  }
  ScratchDirectory scratch_;
};

TEST_P(LogTest, EverythingIsThere) {
  const std::string path = write(100, 3);
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  const auto log = open_or_fail(path);
  ASSERT_NE(log, nullptr);
  EXPECT_EQ(log->run().ending, interp::LogEnding::kClosed);
  EXPECT_EQ(log->run().outcome, "leak");
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM event"), 1200);
  EXPECT_EQ(count(*log, "SELECT COUNT(DISTINCT id) FROM event"), 1200);
  EXPECT_EQ(
      count(*log, "SELECT COUNT(*) FROM event WHERE stream = 1 AND finish_ns - start_ns = 20"),
      300);
  EXPECT_EQ(count(*log, "SELECT SUM(waited_ns) FROM event"), 2100);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM collective WHERE duration_ns = 20"), 300);
  EXPECT_EQ(
      count(*log, "SELECT COUNT(*) FROM v_collectives WHERE arrived = 3 AND member_count = 3"),
      100);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM collective_arrival WHERE communicator_key = 4711"),
            300);
  EXPECT_EQ(count(*log, "SELECT MAX(peak_bytes) FROM v_peak_memory"), 4032);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM value WHERE mean = 3.5"), 300);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM v_values WHERE address = '@f#1'"), 300);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM v_slowest_waits WHERE waited_for_event IS NOT NULL"),
            300);
  EXPECT_EQ(
      count(*log, "SELECT COUNT(*) FROM v_timeline WHERE track = 'comm' AND op = 'all_reduce'"),
      300);
  EXPECT_EQ(count(*log, "SELECT iteration FROM loop_path WHERE id = 100"), 99);
  const auto problems = log->check();
  ASSERT_TRUE(problems) << problems.error().message();
  EXPECT_TRUE(problems->empty()) << problems->front();
}

TEST_P(LogTest, EventsComeByFilterInOrder) {
  const auto log = open_or_fail(write(100, 3));
  ASSERT_NE(log, nullptr);
  interp::EventFilter filter;
  filter.ranks = {1};
  filter.mnemonics = {"all_reduce"};
  filter.limit = 40;
  std::vector<interp::LogEvent> all;
  while (true) {
    const auto page = log->events(filter);
    ASSERT_TRUE(page) << page.error().message();
    if (page->empty()) break;
    all.insert(all.end(), page->begin(), page->end());
    filter.first_id = page->back().id + 1;
  }
  ASSERT_EQ(all.size(), 100U);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].rank, 1);
    EXPECT_EQ(all[i].start_ns, static_cast<int64_t>(50 * i + 25));
    EXPECT_EQ(log->loop_path(all[i].loop_path), std::to_string(i));
    const auto one = log->event(all[i].id);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->finish_ns, all[i].finish_ns);
  }
  filter = {};
  filter.from_ns = 1000;
  filter.to_ns = 1050;
  const auto range = log->events(filter);
  ASSERT_TRUE(range);
  EXPECT_GE(range->size(), 12U);
  EXPECT_LE(range->size(), 24U);
  EXPECT_FALSE(log->event(99999));
}

TEST_P(LogTest, TimelineCountsEveryEventAtEveryZoom) {
  const auto log = open_or_fail(write(500, 2));
  ASSERT_NE(log, nullptr);
  const auto extent = log->refresh();
  ASSERT_TRUE(extent) << extent.error().message();
  EXPECT_EQ(extent->event_count, 4000);
  for (const int32_t columns : {1, 10, 333, 100000}) {
    for (interp::TrackId track = 0; track < log->tracks().size(); ++track) {
      const auto slices = log->timeline({track, extent->begin_ns, extent->end_ns + 1, columns});
      int64_t events = 0;
      for (const auto& slice : slices) events += slice.count;
      const int32_t stream = log->tracks()[track].stream;
      EXPECT_EQ(events, stream < 0 ? 2000 : stream == 0 ? 1000 : 500) << columns;
      EXPECT_LE(slices.size(), static_cast<size_t>(columns) + 2);
    }
  }
  EXPECT_TRUE(log->timeline({99, 0, 100, 10}).empty());
  const auto memory = log->memory(0, 0, extent->end_ns, 10);
  ASSERT_TRUE(memory);
  EXPECT_GE(memory->size(), 10U);
  EXPECT_LE(memory->size(), 12U);
}

TEST_P(LogTest, InputsComeBack) {
  const auto log = open_or_fail(write(1, 1));
  ASSERT_NE(log, nullptr);
  const auto x = log->input_data(0);
  ASSERT_TRUE(x) << x.error().message();
  EXPECT_EQ(*x, testing::small_input());
  EXPECT_FALSE(log->input_data(1)) << "a generator is not stored";
  ASSERT_EQ(log->inputs().size(), 2U);
  EXPECT_EQ(log->inputs()[1].kind, "generator");
  EXPECT_EQ(log->inputs()[1].expression, "normal(7)");
  EXPECT_EQ(log->phases().at(0).text, "text of the phase");
  EXPECT_EQ(log->explanations().at(0).text, "because");
  EXPECT_EQ(log->faults()->at(0).notes.at(0), "note \"quoted\"");
}

// Lines that a phase leaves unchanged take no room.
Origin origin(size_t number) { return {ValueId(number)}; }

TEST(HeldValues, AreReadBackAndMayBeMissing) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("run.db");
  RunDescription run = synthetic_description(2);
  run.held.names = {"x", "y", "y_part"};
  run.held.buffers = {origin(0), {}, origin(1)};
  run.held.written = {{1, 2, origin(1)}};
  run.explanations = {{"@f", "homes", "one", {}}, {"%y", "cut", "two", origin(1)}};
  auto writer = TraceWriter::create(path, run);
  ASSERT_TRUE(writer) << writer.error().message();
  ASSERT_TRUE((*writer)->close());
  {
    const auto log = open_or_fail(path);
    ASSERT_NE(log, nullptr);
    const interp::HeldValues& held = log->tables().recorded.held;
    EXPECT_EQ(held.names, run.held.names);
    ASSERT_EQ(held.buffers.size(), 3u);
    EXPECT_FALSE(held.buffers[1].valid());
    EXPECT_EQ(held.buffers[2].value, ValueId(size_t{1}));
    ASSERT_EQ(held.written.size(), 1u);
    EXPECT_EQ(held.written[0].code, 1u);
    EXPECT_EQ(held.written[0].operand, 2u);
    EXPECT_EQ(held.written[0].value.value, ValueId(size_t{1}));
    ASSERT_EQ(log->explanations().size(), 2u);
    EXPECT_FALSE(log->explanations()[0].value.valid());
    EXPECT_EQ(log->explanations()[1].value.value, ValueId(size_t{1}));
  }
  const auto change = [&](const std::string& sql) {
    auto database = Database::open(path, Database::Mode::kReadWrite);
    ASSERT_TRUE(database);
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message();
  };
  change("UPDATE explain_value SET value = 7");
  EXPECT_FALSE(open_log(path)) << "a number that no value has";
  // As version 6 wrote it.
  change(
      "DROP TABLE fusion_value; DROP TABLE buffer_value; DROP TABLE written_value; "
      "DROP TABLE explain_value; PRAGMA user_version = 6");
  const auto old = open_or_fail(path);
  ASSERT_NE(old, nullptr);
  EXPECT_TRUE(old->tables().recorded.held.names.empty());
  ASSERT_EQ(old->explanations().size(), 2u);
  EXPECT_EQ(old->explanations()[1].subject, "%y");
}

TEST(PhaseTexts, KeepEachLineOnce) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("run.db");
  RunDescription run = synthetic_description(1);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "  %v" + std::to_string(i) + " = tanh %x\n";
  std::string changed = text;
  changed.replace(changed.find("%v500 = tanh"), 12, "%v500 = relu");
  run.phases = {{"bound", text}, {"sharded", changed + "}"}, {"host", changed + "}"}, {"none", ""}};
  const auto writer = TraceWriter::create(path, run, {});
  ASSERT_TRUE(writer) << writer.error().message();
  ASSERT_TRUE((*writer)->close());
  const auto log = open_or_fail(path);
  ASSERT_NE(log, nullptr);
  ASSERT_EQ(log->phases().size(), run.phases.size());
  for (size_t i = 0; i < run.phases.size(); ++i) {
    EXPECT_EQ(log->phases()[i].name, run.phases[i].name);
    EXPECT_EQ(log->phases()[i].text, run.phases[i].text) << run.phases[i].name;
  }
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM phase_line"), 1002);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM phase_part"), 1 + 2 * 4);
}

TEST_P(LogTest, QueriesOnlyRead) {
  const auto log = open_or_fail(write(1, 1));
  ASSERT_NE(log, nullptr);
  for (const char* sql : {"DELETE FROM event_row", "ATTACH 'x.db' AS x", "VACUUM INTO 'y.db'",
                          "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)", "SELEC 1", ""}) {
    EXPECT_FALSE(log->query(sql)) << sql;
  }
  std::stop_source stop;
  stop.request_stop();
  const auto endless = log->query(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", 1,
      stop.get_token());
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().diagnostics[0].id, "log_cancelled");
}

INSTANTIATE_TEST_SUITE_P(Packing, LogTest, ::testing::Values(1 << 20, 0, 501));

TEST(LiveLog, ReaderSeesWhatWasFlushed) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("live.db");
  auto writer = TraceWriter::create(path, synthetic_description(2), {.plain_events = 50});
  ASSERT_TRUE(writer);
  SyntheticRun run(**writer, 2);
  run.iterate(3);
  run.hang(0);
  ASSERT_TRUE((*writer)->flush());
  {
    const auto log = open_or_fail(path);
    ASSERT_NE(log, nullptr);
    EXPECT_EQ(log->run().ending, interp::LogEnding::kRunning);
    EXPECT_EQ(log->refresh()->event_count, 25);
    const auto hanging = log->event(24);
    ASSERT_TRUE(hanging);
    EXPECT_EQ(hanging->finish_ns, interp::kUnknownNs);
    run.iterate(100);
    ASSERT_TRUE((*writer)->flush());
    EXPECT_EQ(log->refresh()->event_count, 825);
    EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM event"), 825);
    EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM collective WHERE finish_ns IS NULL"), 1);
    ASSERT_TRUE((*writer)->close());
  }
  writer->reset();
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  const auto log = open_or_fail(path);
  ASSERT_NE(log, nullptr);
  EXPECT_EQ(log->run().ending, interp::LogEnding::kClosed);
  EXPECT_TRUE(log->check()->empty());
}

TEST(LiveLog, WorkInFlightHoldsNothingBack) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("live.db");
  auto writer = TraceWriter::create(path, synthetic_description(2), {.plain_events = 50});
  ASSERT_TRUE(writer);
  SyntheticRun run(**writer, 2);
  run.hang(0);  // everything after it waits behind work that never finishes
  run.iterate(1000);
  // The writer never idles for two drain periods: a process killed now leaves what was committed.
  const int64_t early = run.events();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  int64_t shown = 0;
  while (shown < early && std::chrono::steady_clock::now() < deadline) {
    for (int i = 0; i < 100; ++i) {
      run.iterate(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto log = open_or_fail(path);
    ASSERT_NE(log, nullptr);
    shown = log->refresh()->event_count;
  }
  EXPECT_GE(shown, early);
  while (run.events() < 300'000) run.iterate(1000);  // more than the writer can hold
  ASSERT_TRUE((*writer)->close());
  const auto log = open_or_fail(path);
  ASSERT_NE(log, nullptr);
  EXPECT_EQ(count(*log, "SELECT COUNT(*) FROM event"), run.events());
  EXPECT_EQ(count(*log, "SELECT id FROM event WHERE stream IS NOT NULL AND finish_ns IS NULL"), 0);
}

TEST(LiveLog, OtherFilesAreLeftAlone) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("notes.txt");
  std::ofstream(path) << "my notes";
  const auto writer = TraceWriter::create(path, synthetic_description(1));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().diagnostics[0].id, "log_exists");
  EXPECT_EQ(std::filesystem::file_size(path), 8U);
  EXPECT_FALSE(TraceWriter::create(scratch.file("no/such/directory.db"), synthetic_description(1)));
}

}  // namespace
}  // namespace hostir::traces
