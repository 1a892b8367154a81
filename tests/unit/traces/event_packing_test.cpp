#include "traces/writer/event_packing.h"

#include <gtest/gtest.h>

#include <random>

#include "hostir/support/hash.h"
#include "traces/writer/ring.h"

namespace hostir::traces {
namespace {

using interp::LogEvent;

bool equal(const LogEvent& a, const LogEvent& b) {
  return a.id == b.id && a.decision == b.decision && a.branch == b.branch && a.rank == b.rank &&
         a.stream == b.stream && a.instruction == b.instruction && a.loop_path == b.loop_path &&
         a.task == b.task && a.waited_for == b.waited_for && a.host_start_ns == b.host_start_ns &&
         a.host_end_ns == b.host_end_ns && a.queued_ns == b.queued_ns && a.start_ns == b.start_ns &&
         a.finish_ns == b.finish_ns && a.waited_ns == b.waited_ns && a.bytes == b.bytes &&
         a.live_bytes == b.live_bytes;
}

LogEvent random_event(std::mt19937_64& random, int64_t id) {
  const auto number = [&](int64_t end) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
  };
  const auto time = [&] { return number(4) == 0 ? interp::kUnknownNs : number(int64_t{1} << 50); };
  LogEvent e;
  e.id = id;
  e.decision = random();
  e.branch = 3;
  e.rank = static_cast<interp::Rank>(number(9));
  e.instruction = static_cast<interp::CodeIndex>(number(40));
  e.loop_path = static_cast<interp::LoopPathId>(number(1 << 30));
  e.host_start_ns = time();
  e.host_end_ns = time();
  if (number(2) == 0) e.bytes = number(1 << 20);
  if (number(2) == 0) e.waited_ns = number(1 << 20);
  if (number(2) == 0) {
    e.stream = static_cast<int32_t>(number(5));
    e.task = interp::make_task_id(e.rank, static_cast<uint64_t>(number(1 << 20)));
    e.queued_ns = time();
    e.start_ns = time();
    e.finish_ns = time();
    if (number(2) == 0) e.live_bytes = number(int64_t{1} << 40);
  }
  if (number(5) == 0) e.waited_for = interp::make_task_id(e.rank, 5);
  return e;
}

TEST(EventPacking, UnpackGivesWhatWasPacked) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    BlockPacker packer;
    std::vector<LogEvent> events;
    const auto count = 1 + random() % 300;
    for (int64_t i = 0, id = 1000; i < static_cast<int64_t>(count); ++i) {
      id += 1 + static_cast<int64_t>(random() % 3);
      events.push_back(random_event(random, id));
      ASSERT_TRUE(packer.accepts(events.back()));
      packer.add(events.back());
    }
    const BlockHeader header = packer.finish();
    std::vector<LogEvent> back;
    ASSERT_TRUE(unpack_block(header, packer.text(), back));
    ASSERT_EQ(back.size(), events.size());
    for (size_t i = 0; i < back.size(); ++i) EXPECT_TRUE(equal(back[i], events[i])) << i;
  }
}

TEST(EventPacking, DamageIsFound) {
  std::mt19937_64 random(2);
  BlockPacker packer;
  for (int64_t id = 0; id < 20; ++id) packer.add(random_event(random, id));
  BlockHeader header = packer.finish();
  const std::string text(packer.text());
  std::vector<LogEvent> out;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string bad = text;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(unpack_block(header, bad, out));
    // Even with a matching checksum, a truncated text must be rejected, or it would decode to other
    // numbers.
    BlockHeader forged = header;
    forged.checksum = hash_of(bad.substr(0, i));
    EXPECT_FALSE(unpack_block(forged, bad.substr(0, i), out));
  }
}

class RingOfSize : public ::testing::TestWithParam<size_t> {};
// The larger one also returns to its start before its end.
INSTANTIATE_TEST_SUITE_P(WordRing, RingOfSize, ::testing::Values(4096, 1 << 20));

TEST_P(RingOfSize, CarriesEverythingInOrderThroughManyWraps) {
  WordRing ring(GetParam());
  constexpr uint64_t kCount = 200000;
  std::jthread producer([&] {
    for (uint64_t i = 0; i < kCount; ++i) {
      const size_t size = 1 + i % 37;
      uint64_t* words = ring.reserve(size);
      for (size_t k = 0; k < size; ++k) words[k] = i + k;
      ring.commit();
    }
  });
  for (uint64_t i = 0; i < kCount;) {
    const auto record = ring.peek();
    if (record.empty()) {
      ring.publish();
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(record.size(), 1 + i % 37);
    for (size_t k = 0; k < record.size(); ++k) ASSERT_EQ(record[k], i + k);
    ring.release(record);
    ++i;
  }
}

TEST(WordRing, AReaderThatKeepsUpNeedsLittleMemory) {
  WordRing ring(1 << 20);
  const uint64_t* first = ring.reserve(20);
  uint64_t furthest = 0;
  const auto read_all = [&] {
    for (auto record = ring.peek(); !record.empty(); record = ring.peek()) ring.release(record);
    ring.publish();
  };
  ring.commit();
  for (int i = 0; i < 200000; ++i) {
    furthest = std::max(furthest, static_cast<uint64_t>(ring.reserve(20) - first));
    ring.commit();
    read_all();
  }
  EXPECT_LT(furthest, 1 << 18);
  EXPECT_EQ(ring.stalls(), 0U);
  // One that does not read lets the whole buffer fill.
  for (int i = 0; i < 40000; ++i) {
    furthest = std::max(furthest, static_cast<uint64_t>(ring.reserve(20) - first));
    ring.commit();
  }
  EXPECT_GT(furthest, 1 << 19);
  EXPECT_EQ(ring.stalls(), 0U);
  read_all();
}

}  // namespace
}  // namespace hostir::traces
