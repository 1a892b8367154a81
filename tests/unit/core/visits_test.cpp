// Breakpoints that stop once per visit, and log points: forwards, backwards, under any schedule.
#include <fmt/core.h>

#include <map>
#include <random>
#include <set>

#include "core_test.h"
#include "hostir/support/lists.h"
#include "interp/core/history/breakpoint_matcher.h"
#include "interp/core/history/stepper.h"
#include "interp/core/state.h"
#include "programs.h"

namespace hostir::interp::test {
namespace {

using Kind = StepCommand::Kind;
using Reason = StopReport::Reason;

class Debugged {
 public:
  explicit Debugged(const std::string& text, HistoryOptions options = {}) : run_(start(text)) {
    history_ = std::move(*History::create(*run_->interpreter, options));
    stepper_ = std::make_unique<Stepper>(*history_, list);
  }
  StopReport go(Direction direction = Direction::kForward, std::vector<Rank> own = {}) {
    StepCommand c;
    c.kind = Kind::kContinue;
    c.direction = direction;
    c.own_visits = std::move(own);
    const auto stop = stepper_->run(c);
    EXPECT_TRUE(stop) << (stop ? "" : stop.error().message());
    return stop ? *stop : StopReport{};
  }
  void step(Kind kind, Direction direction, std::vector<Rank> focus) {
    StepCommand c;
    c.kind = kind;
    c.direction = direction;
    c.focus = std::move(focus);
    ASSERT_TRUE(stepper_->run(c));
  }
  void go_to(uint64_t position) {
    ASSERT_TRUE(history_->go_to(position));
    stepper_->moved();
  }
  uint64_t position() const { return history_->position(); }
  Interpreter& in() { return *run_->interpreter; }
  History& history() { return *history_; }

  Breakpoint& add(uint32_t number, Breakpoint::Stops stops = Breakpoint::Stops::kFirstRank) {
    Breakpoint b;
    b.codes = find_codes(in().code(), "ring", number);
    b.stops = stops;
    list.add(b);
    return list.all().back();
  }
  /// The first decision of each visit, found by scanning every state of the line.
  std::set<uint64_t> first_visits(uint32_t number) {
    const auto codes = find_codes(in().code(), "ring", number);
    std::map<Visit, uint64_t> first;
    for (uint64_t k = 0; k < history_->size(); ++k) {
      go_to(k);
      const Decision& d = history_->line()[k];
      if (d.kind != DecisionRecord::Kind::kRun) continue;
      const Visit visit = next_visit(in(), d.rank);
      if (contains(codes, visit.code)) first.try_emplace(visit, k);
    }
    std::set<uint64_t> out;
    for (const auto& [visit, k] : first) out.insert(k);
    return out;
  }

  BreakpointList list;

 private:
  std::unique_ptr<Run> run_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Stepper> stepper_;
};

TEST(Visits, TheFirstRankStopsAndTheOthersAreCounted) {
  Debugged d(kRing);
  const Breakpoint& b = d.add(8);
  std::vector<uint64_t> positions;
  std::vector<uint64_t> hits;
  for (int i = 0; i < 6; ++i) {
    const StopReport stop = d.go();
    ASSERT_EQ(stop.reason, Reason::kBreakpoint) << i;
    ASSERT_TRUE(stop.visitors);
    EXPECT_EQ(stop.visitors->past, 0);
    EXPECT_EQ(stop.visitors->ranks, 3);
    positions.push_back(d.position());
    hits.push_back(b.hits);
  }
  EXPECT_EQ(d.go().reason, Reason::kFinished);
  EXPECT_EQ(b.hits, 18u) << "all ranks, all iterations";
  for (size_t i = 6; i-- > 0;) {
    ASSERT_EQ(d.go(Direction::kBackward).reason, Reason::kBreakpoint);
    EXPECT_EQ(d.position(), positions[i]);
    EXPECT_EQ(b.hits, hits[i]);
  }
  EXPECT_EQ(d.go(Direction::kBackward).reason, Reason::kBeginning);
  EXPECT_EQ(b.hits, 0u);
}

TEST(Visits, EachRankStopsAtItsOwnVisitsWhereItAloneIsStepped) {
  Debugged d(kRing);
  d.add(8);
  std::map<Rank, int> stops;
  for (StopReport stop = d.go({}, {2}); stop.reason == Reason::kBreakpoint;
       stop = d.go(Direction::kForward, {2}))
    ++stops[stop.rank];
  EXPECT_EQ(stops[2], 6);
  std::map<Rank, int> back;
  for (StopReport stop = d.go(Direction::kBackward, {2}); stop.reason == Reason::kBreakpoint;
       stop = d.go(Direction::kBackward, {2}))
    ++back[stop.rank];
  EXPECT_EQ(back, stops);
}

TEST(Visits, IgnoreCountsVisits) {
  Debugged d(kRing);
  d.add(8).ignore = 2;
  ASSERT_EQ(d.go().reason, Reason::kBreakpoint);
  const LoopPathId path = next_visit(d.in(), 0).path;
  EXPECT_EQ(d.in().loop_paths().entry(path).iteration, 2);
  const uint64_t at = d.position();
  ASSERT_EQ(d.go().reason, Reason::kBreakpoint);
  ASSERT_EQ(d.go(Direction::kBackward).reason, Reason::kBreakpoint);
  EXPECT_EQ(d.position(), at);
  EXPECT_EQ(d.go(Direction::kBackward).reason, Reason::kBeginning);
}

// Ranks far apart, and a branch that only one of them takes (16: inside `where`, in its own loop).
TEST(Visits, BackwardsIsForwardsUnderAnyScheduleAndAnyCheckpoints) {
  for (const uint32_t number : {8u, 16u, 18u}) {
    for (uint32_t seed = 1; seed <= 6; ++seed) {
      HistoryOptions options;
      options.spacing_ns = seed % 2 == 0 ? 1 : 50'000;
      Debugged d(kRing, options);
      std::mt19937 random(seed);
      while (!d.in().finished()) {
        auto rank = static_cast<Rank>(random() % 3);
        for (int n = static_cast<int>(random() % 12); n > 0 && d.in().can_step(rank); --n)
          ASSERT_TRUE(d.history().step(rank));
        if (!d.in().next_rank()) break;
      }
      const std::set<uint64_t> wanted = d.first_visits(number);
      ASSERT_FALSE(wanted.empty());
      d.add(number);
      d.go_to(d.history().size());
      std::set<uint64_t> backwards;
      while (d.go(Direction::kBackward).reason == Reason::kBreakpoint)
        backwards.insert(d.position());
      EXPECT_EQ(backwards, wanted) << "line " << number << ", seed " << seed;
      std::set<uint64_t> forwards;
      while (d.go().reason == Reason::kBreakpoint) forwards.insert(d.position());
      EXPECT_EQ(forwards, wanted) << "line " << number << ", seed " << seed;
    }
  }
}

Breakpoint log_point(Debugged& d, uint32_t number) {
  Breakpoint b;
  b.codes = find_codes(d.in().code(), "ring", number);
  b.log = [](const Interpreter& in, Rank rank, CodeIndex) {
    return fmt::format("{} at {}", rank, in.position());
  };
  return b;
}

TEST(LogPoints, NeverStopAndAreTakenBack) {
  Debugged d(kRing);
  d.list.add(log_point(d, 8));
  LogLines& log = d.list.log();
  log.begin();
  EXPECT_EQ(d.go().reason, Reason::kFinished);
  const std::vector<LogLine> all = log.fresh();
  ASSERT_EQ(all.size(), 18u);
  for (const LogLine& line : all)
    EXPECT_EQ(line.text, fmt::format("{} at {}", line.rank, line.position));
  EXPECT_EQ(d.list.all()[0].hits, 18u);
  log.begin();
  d.go_to(all[9].position);
  EXPECT_EQ(d.list.all()[0].hits, 10u);
  EXPECT_EQ(log.lowest(), all[9].position);
  EXPECT_TRUE(log.fresh().empty());
  // Reaching the position by travel or by running yields the same lines, each once.
  log.begin();
  d.go_to(all[12].position);
  EXPECT_EQ(log.fresh(), std::vector<LogLine>(all.begin() + 10, all.begin() + 13));
  log.begin();
  EXPECT_EQ(d.go().reason, Reason::kFinished);
  EXPECT_EQ(log.fresh(), std::vector<LogLine>(all.begin() + 13, all.end()));
  EXPECT_EQ(d.list.all()[0].hits, 18u);
}

TEST(LogPoints, TheNewestLinesAreKeptAndTheOthersCounted) {
  std::string text = kRing;
  text.replace(text.find("0..6"), 4, "0..2000");
  Debugged d(text);
  d.list.add(log_point(d, 8));
  LogLines& log = d.list.log();
  log.begin();
  EXPECT_EQ(d.go().reason, Reason::kFinished);
  EXPECT_EQ(log.fresh().size(), LogLines::kKept);
  EXPECT_EQ(log.dropped(), 6000 - LogLines::kKept);
  EXPECT_EQ(d.list.all()[0].hits, 6000u);
  const uint64_t end = d.position();
  log.begin();
  d.go_to(end / 2);
  const uint64_t hits = d.list.all()[0].hits;
  EXPECT_GT(hits, 2000u);
  EXPECT_LT(hits, 4000u);
  log.begin();
  d.go_to(end);
  EXPECT_EQ(log.fresh().size() + log.dropped(), 6000 - hits);
  EXPECT_EQ(log.fresh().size(), LogLines::kKept);
}

TEST(LogPoints, ALineIsNotWrittenTwiceWhereARankStoodStill) {
  Debugged d(kRing);
  d.list.add(log_point(d, 8));
  d.add(8, Breakpoint::Stops::kEachRank);
  d.list.log().begin();
  while (d.go().reason == Reason::kBreakpoint) {
    // Another rank moves first, then the run continues with the stopped one.
    for (Rank r = 2; r >= 0; --r) {
      if (d.in().can_step(r) && next_visit(d.in(), r).code != d.list.all()[0].codes[0]) {
        ASSERT_TRUE(d.history().step(r));
        break;
      }
    }
  }
  EXPECT_EQ(d.list.log().fresh().size(), 18u);
}

// Runs to the end; at each stop, any other rank that can move moves first.
int stops_with_others_first(Debugged& d, uint32_t number) {
  const auto codes = find_codes(d.in().code(), "ring", number);
  int stops = 0;
  while (d.go().reason == Reason::kBreakpoint && ++stops < 1000) {
    for (Rank r = 2; r >= 0; --r) {
      if (d.in().can_step(r) && next_visit(d.in(), r).code != codes[0]) {
        EXPECT_TRUE(d.history().step(r));
        break;
      }
    }
  }
  return stops;
}

TEST(Visits, ARankThatStoodStillIsToldOnce) {
  Debugged d(kRing);
  const Breakpoint& b = d.add(8, Breakpoint::Stops::kEachRank);
  EXPECT_EQ(stops_with_others_first(d, 8), 18);
  EXPECT_EQ(b.hits, 18u);
  const uint64_t end = d.position();
  std::set<uint64_t> backwards;
  while (d.go(Direction::kBackward).reason == Reason::kBreakpoint) backwards.insert(d.position());
  EXPECT_EQ(backwards.size(), 18u);
  EXPECT_EQ(b.hits, 0u);
  d.go_to(end);
  EXPECT_EQ(b.hits, 18u);
}

TEST(LogPoints, IgnoreCountsAVisitOnceWhereARankStoodStill) {
  Debugged d(kRing);
  Breakpoint log = log_point(d, 8);
  log.ignore = 3;
  d.list.add(log);
  d.add(8, Breakpoint::Stops::kEachRank);
  d.list.log().begin();
  stops_with_others_first(d, 8);
  EXPECT_EQ(d.list.all()[0].hits, 18u);
  EXPECT_EQ(d.list.log().fresh().size(), 15u);
}

TEST(LogPoints, WhatIsIgnoredIsNoLineThatIsNotKept) {
  std::string text = kRing;
  text.replace(text.find("0..6"), 4, "0..500");
  Debugged d(text);
  Breakpoint b = log_point(d, 8);
  b.ignore = 5;
  d.list.add(b);
  EXPECT_EQ(d.go().reason, Reason::kFinished);
  const uint64_t end = d.position();
  d.go_to(0);
  LogLines& log = d.list.log();
  log.begin();
  d.go_to(end);
  EXPECT_EQ(log.fresh().size() + log.dropped(), 1495u);
}

TEST(LogPoints, AHitAtTheEndOfACommandIsNotLost) {
  Debugged d(kRing);
  d.list.add(log_point(d, 8));
  d.list.log().begin();
  d.go();
  const std::vector<LogLine> all = d.list.log().fresh();
  const uint64_t end = d.position();
  for (const LogLine& line : all) {
    d.go_to(line.position - 1);
    const Rank before = d.history().line()[line.position - 1].rank;
    d.step(Kind::kInto, Direction::kForward, {before});
    ASSERT_EQ(d.position(), line.position);
    d.list.log().begin();
    d.go_to(end);
    EXPECT_EQ(d.list.all()[0].hits, 18u) << line.position;
    const auto before_it = static_cast<size_t>(&line - all.data());
    EXPECT_EQ(d.list.log().fresh().size() + before_it, 18u) << line.position;
  }
}

TEST(Visits, AnyWalkAndThenTheEndGivesTheCountsOfTheStraightRun) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    Debugged d(kRing);
    std::mt19937 random(seed);
    const auto any = [&](uint64_t n) { return static_cast<uint64_t>(random()) % n; };
    d.list.add(log_point(d, 8));
    d.list.add(log_point(d, 16));
    Breakpoint ignoring = log_point(d, 18);
    ignoring.ignore = 4;
    d.list.add(ignoring);
    d.add(8, Breakpoint::Stops::kEachRank);
    d.add(8);
    d.add(16);
    d.add(18, Breakpoint::Stops::kEachRank).ignore = 2;
    const std::vector<uint64_t> straight = {18, 12, 18, 18, 18, 12, 18};
    const auto to_the_end = [&] {
      d.go_to(d.history().size());
      for (int i = 0; i < 200 && !d.in().finished(); ++i) d.go();
      ASSERT_TRUE(d.in().finished());
    };
    to_the_end();
    for (int round = 0; round < 6; ++round) {
      std::string walk;
      for (int n = 0; n < 8; ++n) {
        const auto rank = static_cast<Rank>(any(3));
        const std::vector<Rank> focus = any(2) == 0 ? std::vector<Rank>{} : std::vector<Rank>{rank};
        const Direction way = any(3) == 0 ? Direction::kBackward : Direction::kForward;
        const uint64_t what = any(4);
        if (what == 0) d.go_to(any(d.history().size() + 1));
        if (what == 1) d.step(Kind::kInto, way, focus);
        if (what == 2) d.step(Kind::kOver, way, focus);
        if (what == 3) d.step(Kind::kContinue, way, focus);
        walk += fmt::format(" {}{}{}@{}", what, way == Direction::kBackward ? "back" : "",
                            focus.empty() ? "" : fmt::format("r{}", rank), d.position());
      }
      to_the_end();
      for (size_t i = 0; i < straight.size(); ++i) {
        ASSERT_EQ(d.list.all()[i].hits, straight[i]) << i << ", seed " << seed << ":" << walk;
      }
      d.go_to(0);
      LogLines& log = d.list.log();
      log.begin();
      d.go_to(d.history().size());
      std::map<uint32_t, std::set<std::pair<Rank, uint64_t>>> lines;
      for (const LogLine& line : log.fresh()) {
        if (line.breakpoint > 2) continue;
        EXPECT_TRUE(lines[line.breakpoint].insert({line.rank, line.steps}).second) << walk;
      }
      ASSERT_EQ(lines[1].size(), 18u) << "seed " << seed << ":" << walk;
      ASSERT_EQ(lines[2].size(), 12u) << "seed " << seed << ":" << walk;
      for (size_t i = 0; i < straight.size(); ++i) ASSERT_EQ(d.list.all()[i].hits, straight[i]);
    }
  }
}

}  // namespace
}  // namespace hostir::interp::test
