// The simulator's timeline: cases worked out by hand, and independence of the order in which hosts
// run.
#include "interp/sim/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace hostir::sim {
namespace {

using interp::make_task_id;
using Work = TimedTask::Work;

TimedTask compute(Rank rank, uint64_t number, StreamIndex stream, int64_t issued, int64_t duration,
                  std::vector<TaskId> waits = {}) {
  TimedTask t;
  t.id = make_task_id(rank, number);
  t.stream = stream;
  t.issued_ns = issued;
  t.duration_ns = duration;
  t.work = Work::kCompute;
  t.waits_for = std::move(waits);
  return t;
}

// Members live as long as the items that name them.
std::span<const Rank> kept(const std::vector<Rank>& members) {
  static std::set<std::vector<Rank>> all;
  return *all.insert(members).first;
}

TimedItem collective(uint64_t sequence, const std::vector<Rank>& members, Rank rank,
                     int64_t duration) {
  TimedItem item;
  item.key = {0, members.front(), -1, -1, sequence};
  item.members = kept(members);
  item.position =
      static_cast<uint32_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  item.duration_ns = item.occupied_ns = duration;
  return item;
}

TimedItem transfer(uint64_t ordinal, Rank source, Rank target, bool sends, int64_t duration) {
  TimedItem item;
  item.key = {0, 0, source, target, ordinal};
  item.members = kept({source, target});
  item.position = sends ? 0 : 1;
  item.uses_out = sends;
  item.uses_in = !sends;
  item.duration_ns = item.occupied_ns = duration;
  return item;
}

// The bytes of a transfer through a buffer of `capacity` bytes.
TimedItem buffered(TimedItem item, int64_t bytes, int64_t capacity) {
  item.buffered = {bytes, capacity};
  item.uses_in = false;
  return item;
}

TimedTask communicate(Rank rank, uint64_t number, StreamIndex stream, int64_t issued,
                      std::vector<TimedItem> items, std::vector<TaskId> waits = {}) {
  TimedTask t;
  t.id = make_task_id(rank, number);
  t.stream = stream;
  t.issued_ns = issued;
  t.work = Work::kCommunication;
  t.items = std::move(items);
  t.waits_for = std::move(waits);
  return t;
}

std::vector<HostState> all_done(size_t ranks) {
  return std::vector<HostState>(ranks, HostState{HostState::Kind::kDone, 0, interp::kNoTask});
}

using Times = std::map<TaskId, std::pair<int64_t, int64_t>>;  // started, finished

void collect(const std::vector<TimelineEvent>& events, Times& times) {
  for (const TimelineEvent& e : events) {
    if (e.at.phase == Moment::Phase::kFinish) times[e.at.task] = {e.started_ns, e.at.time_ns};
  }
}

Times run_to_end(Timeline& timeline, size_t ranks) {
  std::vector<TimelineEvent> events;
  timeline.advance(all_done(ranks), events);
  Times times;
  collect(events, times);
  return times;
}

TEST(Timeline, StreamsShareOneComputeEngine) {
  Timeline timeline(1);
  timeline.add(compute(0, 0, 0, 10, 100));  // 10..110
  timeline.add(compute(0, 1, 1, 20, 50));   // ready 20, engine free at 110: 110..160
  timeline.add(compute(0, 2, 0, 30, 5));    // ready at 110, after its predecessor: 160..165
  const Times times = run_to_end(timeline, 1);
  EXPECT_EQ(times.at(make_task_id(0, 0)), (std::pair<int64_t, int64_t>{10, 110}));
  EXPECT_EQ(times.at(make_task_id(0, 1)), (std::pair<int64_t, int64_t>{110, 160}));
  EXPECT_EQ(times.at(make_task_id(0, 2)), (std::pair<int64_t, int64_t>{160, 165}));
}

TEST(Timeline, CollectiveStartsWithItsLastMember) {
  Timeline timeline(2);
  timeline.add(compute(1, 0, 0, 5, 200));  // 5..205
  timeline.add(communicate(0, 0, 0, 10, {collective(0, {0, 1}, 0, 40)}));
  timeline.add(communicate(1, 1, 1, 20, {collective(0, {0, 1}, 1, 40)}, {make_task_id(1, 0)}));
  const Times times = run_to_end(timeline, 2);
  EXPECT_EQ(times.at(make_task_id(0, 0)), (std::pair<int64_t, int64_t>{205, 245}));
  EXPECT_EQ(times.at(make_task_id(1, 1)), (std::pair<int64_t, int64_t>{205, 245}));
}

TEST(Timeline, LinkEndsWorkInBothDirectionsAtOnce) {
  Timeline timeline(3);
  timeline.add(communicate(0, 0, 0, 0, {transfer(0, 0, 1, true, 100)}));
  timeline.add(communicate(1, 0, 0, 0, {transfer(0, 0, 1, false, 100)}));
  timeline.add(communicate(1, 1, 1, 0, {transfer(0, 1, 0, true, 100)}));  // other direction
  timeline.add(communicate(0, 1, 1, 0, {transfer(0, 1, 0, false, 100)}));
  timeline.add(communicate(2, 0, 0, 1, {transfer(0, 2, 1, true, 10)}));  // waits for 1's in
  timeline.add(communicate(1, 2, 2, 1, {transfer(0, 2, 1, false, 10)}));
  const Times times = run_to_end(timeline, 3);
  EXPECT_EQ(times.at(make_task_id(1, 0)).second, 100);
  EXPECT_EQ(times.at(make_task_id(0, 1)).second, 100);
  EXPECT_EQ(times.at(make_task_id(1, 2)), (std::pair<int64_t, int64_t>{100, 110}));
}

// The items of a group match one by one: rank 1 answers the first before rank 0 continues.
TEST(Timeline, ItemsOfAGroupMeetOneByOne) {
  Timeline timeline(2);
  timeline.add(communicate(0, 0, 0, 0, {transfer(0, 0, 1, true, 10)}));
  timeline.add(communicate(0, 1, 0, 0, {transfer(0, 1, 0, false, 10)}));
  timeline.add(
      communicate(1, 0, 0, 0, {transfer(0, 0, 1, false, 10), transfer(0, 1, 0, true, 10)}));
  const Times times = run_to_end(timeline, 2);
  EXPECT_EQ(times.at(make_task_id(0, 0)), (std::pair<int64_t, int64_t>{0, 10}));
  EXPECT_EQ(times.at(make_task_id(0, 1)), (std::pair<int64_t, int64_t>{10, 20}));
  EXPECT_EQ(times.at(make_task_id(1, 0)), (std::pair<int64_t, int64_t>{0, 20}));
}

TEST(Timeline, ABufferedSendDoesNotWaitForItsReceiver) {
  Timeline timeline(2);
  for (uint64_t k = 0; k < 2; ++k) {
    const TimedItem sent = buffered(transfer(k, 0, 1, true, 100), 10, 64);
    timeline.add(communicate(0, k, 0, 0, {sent}));
  }
  timeline.add(communicate(1, 0, 0, 20, {buffered(transfer(0, 0, 1, false, 5), 10, 64)}));
  timeline.add(communicate(1, 1, 0, 500, {buffered(transfer(1, 0, 1, false, 5), 10, 64)}));
  const Times times = run_to_end(timeline, 2);
  EXPECT_EQ(times.at(make_task_id(0, 0)), (std::pair<int64_t, int64_t>{0, 100}));
  EXPECT_EQ(times.at(make_task_id(0, 1)), (std::pair<int64_t, int64_t>{100, 200}));
  EXPECT_EQ(times.at(make_task_id(1, 0)), (std::pair<int64_t, int64_t>{100, 105}));
  EXPECT_EQ(times.at(make_task_id(1, 1)), (std::pair<int64_t, int64_t>{500, 505}));
}

TEST(Timeline, AFullBufferMakesTheSenderWait) {
  Timeline timeline(2);
  for (uint64_t k = 0; k < 3; ++k) {
    const TimedItem sent = buffered(transfer(k, 0, 1, true, 100), 10, 20);
    timeline.add(communicate(0, k, 0, 0, {sent}));
  }
  timeline.add(communicate(1, 0, 0, 500, {buffered(transfer(0, 0, 1, false, 5), 10, 20)}));
  std::vector<TimelineEvent> events;
  timeline.advance(all_done(2), events);
  Times times;
  collect(events, times);
  EXPECT_EQ(times.at(make_task_id(0, 1)), (std::pair<int64_t, int64_t>{100, 200}));
  EXPECT_EQ(times.at(make_task_id(1, 0)), (std::pair<int64_t, int64_t>{500, 505}));
  EXPECT_EQ(times.at(make_task_id(0, 2)), (std::pair<int64_t, int64_t>{505, 605}));
}

// `wait %e on %s; free %g on %s` takes no time: it completes at the time of %e, but after it.
TEST(Timeline, WhatWaitsComesAfterWhatItWaitedFor) {
  Timeline timeline(1);
  timeline.add(compute(0, 0, 7, 0, 100));
  TimedTask release = compute(0, 1, 0, 5, 0, {make_task_id(0, 0)});
  release.work = Work::kNone;
  timeline.add(release);
  std::vector<TimelineEvent> events;
  timeline.advance(all_done(1), events);
  ASSERT_EQ(events.size(), 3u);  // start, finish, release
  EXPECT_EQ(events[1].at.task, make_task_id(0, 0));
  EXPECT_EQ(events[2].at.task, make_task_id(0, 1));
  EXPECT_EQ(events[2].at.time_ns, 100);
}

TEST(Timeline, NothingHappensThatALaterIssueCouldPrecede) {
  Timeline timeline(1);
  timeline.add(compute(0, 0, 0, 10, 100));
  std::vector<TimelineEvent> events;
  std::vector<HostState> hosts = {{HostState::Kind::kRunnable, 10, interp::kNoTask}};
  timeline.advance(hosts, events);
  ASSERT_EQ(events.size(), 1u);  // it starts at 10; the host may still issue before 110
  hosts[0].clock_ns = 110;
  timeline.advance(hosts, events);
  EXPECT_EQ(events.size(), 2u);
  EXPECT_TRUE(timeline.idle());
}

TEST(Timeline, MissingMemberNeverFinishes) {
  Timeline timeline(2);
  timeline.add(communicate(0, 0, 0, 10, {collective(0, {0, 1}, 0, 40)}));
  std::vector<TimelineEvent> events;
  std::vector<HostState> hosts = all_done(2);
  hosts[0] = {HostState::Kind::kBlocked, 11, make_task_id(0, 0)};
  timeline.advance(hosts, events);
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(timeline.idle());
}

// ---- random programs in random orders ----

struct HostOp {
  bool waits = false;  // blocks the host on `task`
  TimedTask task;      // issued_ns is filled in when it runs
  TaskId on = interp::kNoTask;
};
using HostProgram = std::vector<std::vector<HostOp>>;

// Transfers of up to `capacity` bytes are buffered.
HostProgram random_program(std::mt19937& random, Rank ranks, int64_t capacity) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  HostProgram program(static_cast<size_t>(ranks));
  std::vector<uint64_t> numbers(static_cast<size_t>(ranks), 0);
  std::vector<Rank> everyone;
  for (Rank r = 0; r < ranks; ++r) everyone.push_back(r);
  const auto last = [&](size_t r) -> std::vector<TaskId> {
    if (numbers[r] == 0 || pick(3) != 0) return {};
    return {make_task_id(static_cast<Rank>(r),
                         static_cast<uint64_t>(pick(static_cast<int>(numbers[r]))))};
  };
  for (uint64_t step = 0; step < 25; ++step) {
    const int what = pick(5);
    const Rank a = pick(ranks);
    const Rank b = (a + 1 + pick(ranks - 1)) % ranks;
    const int64_t bytes = 1 + pick(60);
    for (Rank r = 0; r < ranks; ++r) {
      const auto i = static_cast<size_t>(r);
      auto& ops = program[i];
      const auto stream = static_cast<StreamIndex>(pick(2));
      if (what <= 1) {
        ops.push_back({false, compute(r, numbers[i]++, stream, 0, 1 + pick(60), last(i)), {}});
      } else if (what == 2) {
        ops.push_back(
            {false,
             communicate(r, numbers[i]++, 2, 0, {collective(step, everyone, r, 30)}, last(i)),
             {}});
      } else if (what == 3 && (r == a || r == b)) {
        TimedItem item = transfer(step, a, b, r == a, 25);
        if (bytes <= capacity) item = buffered(item, bytes, capacity);
        ops.push_back(
            {false, communicate(r, numbers[i]++, r == a ? 3 : 4, 0, {item}, last(i)), {}});
      } else if (what == 4 && numbers[i] > 0 && pick(2) == 0) {
        ops.push_back({true, {}, make_task_id(r, numbers[i] - 1)});
      }
    }
  }
  return program;
}

// Runs the hosts in a random order; `bias` prefers one rank, like stepping with a focus.
std::vector<TimelineEvent> run(const HostProgram& program, std::mt19937& random, int bias) {
  const size_t ranks = program.size();
  Timeline timeline(static_cast<Rank>(ranks));
  std::vector<size_t> at(ranks, 0);
  std::vector<HostState> hosts(ranks);
  std::map<TaskId, int64_t> finished;
  std::vector<TimelineEvent> all;
  while (true) {
    std::vector<size_t> runnable;
    for (size_t r = 0; r < ranks; ++r) {
      if (at[r] >= program[r].size()) {
        hosts[r].kind = HostState::Kind::kDone;
        continue;
      }
      const HostOp& op = program[r][at[r]];
      hosts[r].kind = HostState::Kind::kRunnable;
      if (op.waits && !finished.contains(op.on)) {
        hosts[r].kind = HostState::Kind::kBlocked;
        hosts[r].waits_for = op.on;
        continue;
      }
      runnable.push_back(r);
    }
    if (!runnable.empty()) {
      size_t r = runnable[random() % runnable.size()];
      if (static_cast<int>(random() % 100) < bias) r = runnable.front();
      const HostOp& op = program[r][at[r]++];
      if (op.waits) {
        hosts[r].clock_ns = std::max(hosts[r].clock_ns, finished.at(op.on));
      }
      hosts[r].clock_ns += 3;
      if (!op.waits) {
        TimedTask task = op.task;
        task.issued_ns = hosts[r].clock_ns;
        timeline.add(std::move(task));
      }
      hosts[r].kind =
          at[r] < program[r].size() ? HostState::Kind::kRunnable : HostState::Kind::kDone;
    }
    std::vector<TimelineEvent> events;
    timeline.advance(hosts, events);
    for (const TimelineEvent& e : events) {
      if (e.at.phase == Moment::Phase::kFinish) finished[e.at.task] = e.at.time_ns;
    }
    all.insert(all.end(), events.begin(), events.end());
    if (runnable.empty() && events.empty()) break;
  }
  EXPECT_TRUE(timeline.idle());
  return all;
}

// The events of each rank, in the order in which they happened.
std::vector<std::vector<Moment>> by_rank(const std::vector<TimelineEvent>& events, size_t ranks) {
  std::vector<std::vector<Moment>> out(ranks);
  for (const TimelineEvent& e : events) {
    for (const Rank r : e.ranks) out[static_cast<size_t>(r)].push_back(e.at);
  }
  return out;
}

TEST(Timeline, SameTimesWhateverOrderTheHostsRunIn) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const HostProgram program =
        random_program(random, 2 + static_cast<Rank>(seed % 4), seed % 3 == 0 ? 0 : 50);
    const auto expected = by_rank(run(program, random, 100), program.size());
    for (const auto& moments : expected) {
      EXPECT_TRUE(std::is_sorted(moments.begin(), moments.end())) << "seed " << seed;
    }
    for (int bias = 0; bias <= 90; bias += 30) {
      EXPECT_EQ(by_rank(run(program, random, bias), program.size()), expected)
          << "seed " << seed << " bias " << bias;
    }
  }
}

TEST(Timeline, ACopyIsACheckpoint) {
  Timeline timeline(2);
  timeline.add(communicate(0, 0, 0, 10, {collective(0, {0, 1}, 0, 40)}));
  Timeline saved = timeline;
  timeline.add(communicate(1, 0, 0, 20, {collective(0, {0, 1}, 1, 40)}));
  saved.add(communicate(1, 0, 0, 20, {collective(0, {0, 1}, 1, 40)}));
  EXPECT_EQ(run_to_end(timeline, 2), run_to_end(saved, 2));
}

}  // namespace
}  // namespace hostir::sim
