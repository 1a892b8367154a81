// Killed writers and damaged files give a diagnostic, never a crash.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "synthetic_run.h"
#include "tests/unit/scratch_directory.h"
#include "traces/database/log_file.h"
#include "traces/database/schema.h"
#include "traces/database/sqlite.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {
namespace {

using testing::synthetic_description;
using testing::SyntheticRun;

/// Calls every reading function. The results do not matter, only that the calls return.
void read_everything(const std::string& path) {
  const auto opened = open_log(path);
  if (!opened) {
    EXPECT_FALSE(opened.error().diagnostics.empty());
    EXPECT_FALSE(opened.error().message().empty());
    return;
  }
  LogReader& log = **opened;
  const auto extent = log.refresh();
  for (interp::TrackId track = 0; track < std::min<size_t>(log.tracks().size(), 8); ++track) {
    const interp::LogExtent e = extent ? *extent : interp::LogExtent{};
    (void)log.timeline({track, e.begin_ns, e.end_ns, 500});
  }
  (void)log.events({});
  (void)log.event(3);
  (void)log.loop_path(2);
  (void)log.collectives({});
  (void)log.memory(0, 0, 100000, 100);
  for (const interp::LogTensor& tensor : log.tensors())
    (void)log.writes({.value = tensor.name, .element = std::vector<int64_t>{}});
  (void)log.faults();
  (void)log.decisions();
  for (size_t i = 0; i < 2; ++i) (void)log.input_data(i);
  for (const View& view : schema_views()) {
    (void)log.query("SELECT * FROM " + std::string(view.name), 1000);
  }
  (void)log.check();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string small_log(const ScratchDirectory& scratch) {
  const std::string path = scratch.file("good.db");
  auto writer = TraceWriter::create(path, synthetic_description(2), {.plain_events = 100});
  EXPECT_TRUE(writer);
  SyntheticRun run(**writer, 2);
  run.iterate(12, /*log_values=*/true);
  (*writer)->decision({interp::DecisionRecord::Kind::kFreeze, 3, 0, 1, ""});
  (*writer)->fault({"deadlock", "rank 0 waits", {0}, {"@f#2"}, {}});
  EXPECT_TRUE((*writer)->close());
  return path;
}

TEST(Damage, FlippedBitsAndTruncation) {
  const ScratchDirectory scratch;
  const std::string good = read_file(small_log(scratch));
  ASSERT_GT(good.size(), 10000U);
  const std::string path = scratch.file("bad.db");
  std::mt19937_64 random(7);
  for (int round = 0; round < 250; ++round) {
    std::string bad = good;
    const auto flips = 1 + random() % 20;
    for (uint64_t i = 0; i < flips; ++i) {
      // At this size most pages are empty, so half of the flips target nonzero bytes.
      size_t at = random() % bad.size();
      for (int tries = 0; tries < 50 && i % 2 == 0 && bad[at] == 0; ++tries) {
        at = random() % bad.size();
      }
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    }
    if (round % 4 == 0) bad.resize(random() % bad.size());
    std::ofstream(path, std::ios::binary) << bad;
    read_everything(path);
  }
}

TEST(Damage, ChangedRowsAreFound) {
  const ScratchDirectory scratch;
  const std::string path = small_log(scratch);
  {
    auto database = Database::open(path, Database::Mode::kReadWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("UPDATE event_row SET bytes = 65 WHERE id = 7"));
  }
  const auto log = open_log(path);
  ASSERT_TRUE(log);
  const auto problems = (*log)->check();
  ASSERT_TRUE(problems);
  ASSERT_EQ(problems->size(), 1U);
  EXPECT_NE(problems->front().find("event_row"), std::string::npos);
}

class Nonsense : public ::testing::TestWithParam<const char*> {};

TEST_P(Nonsense, InEveryColumn) {
  const ScratchDirectory scratch;
  const std::string good = small_log(scratch);
  const std::string path = scratch.file("nonsense.db");
  for (const Table& table : schema_tables()) {
    for (const Column& column : table.columns) {
      std::filesystem::copy_file(good, path, std::filesystem::copy_options::overwrite_existing);
      {
        auto database = Database::open(path, Database::Mode::kReadWrite);
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->execute("PRAGMA synchronous = OFF"));  // there is one file per column
        (void)database->execute("UPDATE OR IGNORE " + std::string(table.name) + " SET " +
                                std::string(column.name) + " = " + GetParam() +
                                " WHERE rowid % 3 = 1");
      }
      read_everything(path);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Damage, Nonsense,
    ::testing::Values("CASE WHEN rowid % 2 THEN NULL ELSE 9223372036854775807 END",
                      "CASE WHEN rowid % 2 THEN -1 ELSE '1x' END"));

TEST(Damage, WrongFilesAreNamed) {
  const ScratchDirectory scratch;
  const auto id = [](const std::string& path) {
    const auto log = open_log(path);
    return log ? std::string("opened") : log.error().diagnostics[0].id;
  };
  EXPECT_EQ(id(scratch.file("missing.db")), "log_missing");
  EXPECT_EQ(id(scratch.file(".")), "log_missing");  // a folder without logs
  std::ofstream(scratch.file("text.db")) << "mesh @m = <tp=2>";
  EXPECT_EQ(id(scratch.file("text.db")), "log_not_a_log");
  std::ofstream(scratch.file("empty.db")) << "";
  EXPECT_EQ(id(scratch.file("empty.db")), "log_not_a_log");
  {
    auto other = Database::open(scratch.file("other.db"), Database::Mode::kCreate);
    ASSERT_TRUE(other && other->execute("CREATE TABLE t (a)"));
  }
  EXPECT_EQ(id(scratch.file("other.db")), "log_not_a_log");
  const std::string path = small_log(scratch);
  {
    auto database = Database::open(path, Database::Mode::kReadWrite);
    ASSERT_TRUE(database && database->execute("PRAGMA user_version = 1000"));
  }
  EXPECT_EQ(id(path), "log_newer");
}

TEST(Killed, LogOpensAndSaysThatItWasCut) {
  const ScratchDirectory scratch;
  std::mt19937_64 random(11);
  for (int round = 0; round < 5; ++round) {
    const std::string path = scratch.file("killed" + std::to_string(round) + ".db");
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto writer = TraceWriter::create(path, synthetic_description(2), {.plain_events = 5000});
      if (!writer || write(ready[1], "x", 1) != 1) _exit(1);
      SyntheticRun run(**writer, 2);
      while (true) run.iterate(10);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);

    const auto log = open_log(path);
    ASSERT_TRUE(log) << log.error().message();
    EXPECT_EQ((*log)->run().ending, interp::LogEnding::kCut);
    EXPECT_EQ((*log)->phases().size(), 1U);
    EXPECT_TRUE((*log)->input_data(0));
    const auto extent = (*log)->refresh();
    ASSERT_TRUE(extent) << extent.error().message();
    const auto events = (*log)->query("SELECT COUNT(*), MAX(id) + 1 FROM event");
    ASSERT_TRUE(events);
    EXPECT_EQ(std::get<int64_t>(events->rows[0][0]), extent->event_count);
    const auto problems = (*log)->check();
    ASSERT_TRUE(problems);
    EXPECT_TRUE(problems->empty());
  }
}

TEST(Killed, JournalOfAWriterThatDiedIsRolledBack) {
  const ScratchDirectory scratch;
  const std::string path = small_log(scratch);
  const std::string hot = scratch.file("hot.db");
  {
    auto writer = Database::open(path, Database::Mode::kReadWrite);
    // With a cache of one page, changed pages are written to the file before the transaction ends.
    ASSERT_TRUE(writer && writer->execute("PRAGMA cache_size = 1; BEGIN; DELETE FROM string;"
                                          "DELETE FROM instruction; DELETE FROM tensor;"
                                          "DELETE FROM event_row; DELETE FROM run"));
    for (const char* suffix : {"", "-journal"})
      std::filesystem::copy_file(path + suffix, hot + suffix);
    ASSERT_TRUE(writer->execute("ROLLBACK"));
  }
  {
    auto reader = Database::open(hot, Database::Mode::kReadOnly);
    EXPECT_FALSE(reader && reader->query_int("SELECT COUNT(*) FROM run")) << "the journal is cold";
  }
  const auto log = open_log(hot);
  ASSERT_TRUE(log) << log.error().message();
  EXPECT_EQ((*log)->run().ending, interp::LogEnding::kClosed);
  const auto problems = (*log)->check();
  ASSERT_TRUE(problems);
  EXPECT_TRUE(problems->empty());
}

TEST(Killed, NothingUnderTheNameBeforeTheLogOpens) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("young.db");
  std::ofstream(path + ".new") << "left behind by a writer that was killed";
  auto made = create_log_file(path, [&](Database& fresh) -> Expected<void> {
    EXPECT_FALSE(std::filesystem::exists(path));
    return fresh.execute("INSERT INTO string VALUES (1, 'x')");
  });
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  EXPECT_EQ(*made->query_int("SELECT COUNT(*) FROM string"), 1);
}

}  // namespace
}  // namespace hostir::traces
