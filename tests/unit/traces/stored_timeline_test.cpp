// The timeline stored in a log against the timeline computed from its events.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "tests/unit/scratch_directory.h"
#include "tests/unit/traces/synthetic_run.h"
#include "traces/reader/log_reader.h"
#include "traces/timeline/timeline_codec.h"
#include "traces/timeline/timeline_store.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {
namespace {

constexpr int kRanks = 4;

void write_log(const std::string& path, int64_t iterations) {
  auto writer = TraceWriter::create(path, testing::synthetic_description(kRanks));
  EXPECT_TRUE(writer);
  testing::SyntheticRun run(**writer, kRanks);
  // Two parts with work in flight between them, so that some events are handed out late.
  run.iterate(iterations / 2);
  EXPECT_TRUE((*writer)->flush());
  run.iterate(iterations - iterations / 2);
  EXPECT_TRUE((*writer)->close());
}

void execute(const std::string& path, const std::string& sql) {
  auto database = Database::open(path, Database::Mode::kReadWrite);
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute(sql));
}

std::unique_ptr<LogReader> opened(const std::string& path) {
  auto log = open_log(path);
  EXPECT_TRUE(log) << log.error().message();
  const auto extent = (*log)->refresh();
  EXPECT_TRUE(extent) << extent.error().message();
  return std::move(*log);
}

uint64_t drawn(const std::vector<interp::TimelineSlice>& slices) {
  uint64_t sum = 0;
  for (const auto& slice : slices) sum += slice.count;
  return sum;
}

void expect_same(const LogReader& a, const LogReader& b) {
  ASSERT_EQ(a.extent().event_count, b.extent().event_count);
  const auto extent = a.extent();
  ASSERT_EQ(extent.begin_ns, b.extent().begin_ns);
  ASSERT_EQ(extent.end_ns, b.extent().end_ns);
  const int64_t whole = extent.end_ns - extent.begin_ns;
  std::mt19937_64 random(7);
  for (int i = 0; i < 30; ++i) {
    const int64_t width = i == 0 ? whole + 1 : std::max<int64_t>(1, whole >> (i % 24));
    const int64_t from =
        extent.begin_ns +
        (i == 0 ? 0 : static_cast<int64_t>(random() % static_cast<uint64_t>(whole)));
    for (interp::TrackId track = 0; track < a.tracks().size(); ++track) {
      // At this resolution every event is drawn, so the slices must match; other views must match
      // in count.
      const auto x = a.timeline({track, from, from + width, 1 << 30});
      const auto y = b.timeline({track, from, from + width, 1 << 30});
      ASSERT_EQ(x.size(), y.size()) << "track " << track << " width " << width;
      for (size_t k = 0; k < x.size(); ++k) {
        ASSERT_EQ(x[k].event, y[k].event);
        ASSERT_EQ(x[k].begin_ns, y[k].begin_ns);
        ASSERT_EQ(x[k].end_ns, y[k].end_ns);
        ASSERT_EQ(x[k].instruction, y[k].instruction);
        ASSERT_EQ(x[k].count, y[k].count);
      }
      const auto coarse = a.timeline({track, from, from + width, 500});
      EXPECT_LE(coarse.size(), 1000U);
      if (i == 0) {
        EXPECT_EQ(drawn(coarse), drawn(x));
      }
    }
    const auto x = a.sums(from, from + width);
    const auto y = b.sums(from, from + width);
    ASSERT_EQ(x.size(), y.size());
    for (size_t k = 0; k < x.size(); ++k) {
      ASSERT_EQ(x[k].count, y[k].count);
      ASSERT_EQ(x[k].busy_ns, y[k].busy_ns);
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto m = a.memory(rank, from, from + width, 300);
      const auto n = b.memory(rank, from, from + width, 300);
      ASSERT_TRUE(m && n);
      ASSERT_EQ(m->size(), n->size());
      for (size_t k = 0; k < m->size(); ++k) ASSERT_EQ((*m)[k].live_bytes, (*n)[k].live_bytes);
    }
  }
}

TEST(StoredTimeline, RefusesMoreTracksThanALogHasRoomFor) {
  const ScratchDirectory scratch;
  auto database = Database::open(scratch.file("run.db"), Database::Mode::kCreate);
  ASSERT_TRUE(database);
  const auto store = TimelineStore::create(*database, 6'000'000, 2, {});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().diagnostics.front().id, "log_too_large");
  EXPECT_EQ(store.error().message(),
            "a log has room for 16777216 tracks, but 6000000 ranks with 2 streams each need "
            "24000000; run fewer ranks, or leave out --trace");
}

TEST(StoredTimeline, SaysWhatTheEventsSay) {
  const ScratchDirectory scratch;
  const std::string stored = scratch.file("stored.db");
  const std::string plain = scratch.file("plain.db");
  write_log(stored, 40000);
  std::filesystem::copy_file(stored, plain);
  execute(plain, "DROP TABLE timeline_chunk; DROP TABLE timeline_track; PRAGMA user_version = 1");
  const auto a = opened(stored);
  const auto b = opened(plain);
  EXPECT_EQ((*a->query("SELECT COUNT(*) > 1 FROM timeline_chunk")).rows[0][0],
            interp::LogCell(int64_t{1}));
  expect_same(*a, *b);
  // After a kill, what follows the last chunk is read from the events.
  execute(stored, "DELETE FROM timeline_chunk WHERE id = (SELECT MAX(id) FROM timeline_chunk)");
  expect_same(*opened(stored), *b);
  // Damaged chunks are detected and ignored.
  execute(stored, "UPDATE timeline_chunk SET summary = zeroblob(100)");
  expect_same(*opened(stored), *b);
}

TEST(StoredTimeline, SmallLogsHaveNone) {
  const ScratchDirectory scratch;
  write_log(scratch.file("small.db"), 100);
  const auto log = opened(scratch.file("small.db"));
  EXPECT_EQ((*log->query("SELECT COUNT(*) FROM timeline_chunk")).rows[0][0],
            interp::LogCell(int64_t{0}));
}

TEST(StoredTimeline, DamagedBytesAreNotDecoded) {
  std::mt19937 random(3);
  std::vector<TimelineEvent> events;
  for (int64_t i = 0; i < 300; ++i) {
    events.push_back({i * 10 - 40, i * 10 + 7,
                      static_cast<uint64_t>(i * 3) << 24 | static_cast<uint64_t>(i % 5)});
  }
  const ChunkLimits limits{3, 2, 5};
  const ChunkSummary summary{{summary_of(interp::TrackId{2}, events)}, {}};
  const Bytes encoded = encode(std::span<const TimelineEvent>(events));
  const Bytes sums = encode(summary);
  const auto back = decode_events(encoded, limits);
  ASSERT_TRUE(back && decode_summary(sums, limits));
  ASSERT_EQ(back->size(), events.size());
  EXPECT_EQ(back->back().what, events.back().what);
  EXPECT_EQ(back->back().end_ns, events.back().end_ns);
  EXPECT_FALSE(decode_events(encoded, {3, 2, 4}));
  EXPECT_FALSE(decode_summary(sums, {2, 2, 5}));
  for (int i = 0; i < 20000; ++i) {  // must not crash or read out of bounds
    Bytes bad = i % 2 == 0 ? encoded : sums;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<std::byte>(random());
    bad.resize(random() % 8 == 0 ? random() % bad.size() : bad.size());
    if (const auto found = decode_events(bad, limits)) {
      for (const auto& e : *found) ASSERT_TRUE(e.begin_ns <= e.end_ns && e.instruction() < 5);
    }
    (void)decode_summary(bad, limits);
    (void)decode_points(bad);
  }
}

}  // namespace
}  // namespace hostir::traces
