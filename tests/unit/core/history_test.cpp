// Going back and forth in the history: equal positions on one line are equal states.
#include "interp/core/history/history.h"

#include <time.h>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "core_test.h"
#include "interp/core/history/stepper.h"
#include "programs.h"
#include "tests/unit/state_digest.h"

namespace hostir::interp::test {
namespace {

// Digests by position of the current line. A branch discards those ahead of it.
class Walk {
 public:
  explicit Walk(History& history) : history_(history) { check(); }
  void check() {
    const uint64_t k = history_.position();
    const uint64_t digest = digest_of(history_.interpreter());
    if (branch_ != history_.branch()) {
      // Positions up to the start of the branch are shared with the old line.
      seen_.resize(std::min<size_t>(seen_.size(), branch_at_ + 1));
      branch_ = history_.branch();
    }
    if (seen_.size() <= k) seen_.resize(k + 1, 0);
    if (seen_[k] == 0) seen_[k] = digest;
    ASSERT_EQ(seen_[k], digest) << "at position " << k;
  }
  void before_decision() { branch_at_ = history_.position(); }

 private:
  History& history_;
  std::vector<uint64_t> seen_;
  uint32_t branch_ = 0;
  uint64_t branch_at_ = 0;
};

// The checkpoints before the current position.
size_t checkpoint_count(const History& h) {
  std::set<uint64_t> positions;
  for (uint64_t k = 0; k <= h.position(); ++k) positions.insert(h.checkpoint_before(k));
  return positions.size();
}

void random_walk(const char* text, uint32_t seed, int steps) {
  const auto r = start(text);
  ASSERT_TRUE(r);
  HistoryOptions options;
  options.spacing_ns = 20'000;
  options.memory_budget_bytes = 400'000;
  auto history = History::create(*r->interpreter, options);
  ASSERT_TRUE(history);
  History& h = **history;
  Walk walk(h);
  std::mt19937 random(seed);
  const auto ranks = static_cast<uint32_t>(r->code->rank_count);
  for (int i = 0; i < steps; ++i) {
    const auto rank = static_cast<Rank>(random() % ranks);
    walk.before_decision();
    switch (random() % 8) {
      case 0:
        ASSERT_TRUE(h.go_to(random() % (h.size() + 1)));
        break;
      case 1:
        if (h.position() > 0) {
          ASSERT_TRUE(h.go_to(h.position() - 1));
        }
        break;
      case 2:
        if (random() % 8 == 0) r->interpreter->rank(rank).frozen ? h.thaw(rank) : h.freeze(rank);
        break;
      case 3:
      case 4: {
        const auto next = r->interpreter->next_rank();
        if (next) {
          ASSERT_TRUE(h.step(*next));
        }
        break;
      }
      default:
        if (h.position() < h.size()) {
          ASSERT_TRUE(h.go_to(h.position() + 1));
        } else {
          ASSERT_TRUE(h.step(rank));
        }
    }
    walk.check();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_LE(checkpoint_count(h), 512u);
}

TEST(History, RandomWalksMeetEqualStates) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    random_walk(kMlp, seed, 600);
    random_walk(kRing, seed, 600);
  }
}

TEST(History, GoingBackReportsWhoMoved) {
  const auto r = start(kRing);
  ASSERT_TRUE(r);
  auto history = History::create(*r->interpreter);
  ASSERT_TRUE(history);
  for (const Rank rank : {0, 0, 1, 2, 2}) ASSERT_TRUE((*history)->step(rank));
  const auto moved = (*history)->go_to(1);
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->size(), 3u);
  EXPECT_EQ((*moved)[0].steps, -1);
  EXPECT_EQ((*moved)[2].steps, -2);
  EXPECT_EQ((*history)->size(), 5u);
  ASSERT_TRUE((*history)->step(0));
  EXPECT_EQ((*history)->branch(), 0u);  // the same decision as before
  ASSERT_TRUE((*history)->step(2));
  EXPECT_EQ((*history)->branch(), 1u);  // a different decision
  EXPECT_EQ((*history)->size(), 3u);
}

// Counts log records by rank, and tracks the positions of decisions independently.
class CountingSink final : public TraceSink {
 public:
  void issued(const IssuedRecord& record) override { ++issued_records[record.rank]; }
  void finished(const FinishedRecord&) override {}
  void value(const ValueSummary&) override {}
  void decision(const DecisionRecord& record) override { decisions.push_back(record.number); }
  void fault(const FaultRecord&) override {}
  void loop_path(LoopPathId, LoopPathId, CodeIndex, int64_t) override {}

  std::map<Rank, int> issued_records;
  std::vector<uint64_t> decisions;
};

// Steps, freezes and edits at random; records what a log would contain, and every position's
// digest.
void record_a_run(History& h, RecordedLine& recorded, std::vector<uint64_t>& digests) {
  Interpreter& in = h.interpreter();
  std::mt19937 random(3);
  digests.push_back(digest_of(in));
  while (h.size() < 150) {
    const auto rank = static_cast<Rank>(random() % static_cast<uint32_t>(in.code().rank_count));
    const auto buffers = in.allocations(rank);
    if (random() % 16 == 0) {
      in.rank(rank).frozen ? h.thaw(rank) : h.freeze(rank);
    } else if (random() % 16 == 0 && !buffers.empty()) {
      const AllocationView& last = buffers.back();
      const std::vector<std::byte> bytes(4, std::byte{7});
      ASSERT_TRUE(h.edit(rank, last.id, 0, bytes));
      recorded.edits.push_back({in.code().register_name(last.reg), 0, bytes});
    } else if (const auto next = in.next_rank(); random() % 4 == 0 && next) {
      ASSERT_TRUE(h.step(*next));
    } else {
      ASSERT_TRUE(h.step(rank));
    }
    if (digests.size() <= h.position()) digests.push_back(digest_of(in));
  }
  recorded.decisions = h.line();
  uint32_t edits = 0;
  for (Decision& d : recorded.decisions)
    if (d.kind == DecisionRecord::Kind::kEdit) d.edit = edits++;
  ASSERT_EQ(edits, recorded.edits.size());
  ASSERT_GT(edits, 0u);
}

TEST(History, ARecordedRunIsTakenAgainAndLoggedOnce) {
  CountingSink first;
  RecordedLine recorded;
  std::vector<uint64_t> digests;
  {
    const auto r = start(kRing, {}, &first);
    ASSERT_TRUE(r);
    const auto history = History::create(*r->interpreter);
    ASSERT_TRUE(history);
    record_a_run(**history, recorded, digests);
    if (::testing::Test::HasFatalFailure()) return;
  }
  CountingSink second;
  const auto r = start(kRing, {}, &second);
  ASSERT_TRUE(r);
  const size_t whole = recorded.decisions.size();
  const auto history = History::create(*r->interpreter, {}, std::move(recorded));
  ASSERT_TRUE(history);
  History& h = **history;
  EXPECT_EQ(h.size(), whole);
  BreakpointList breakpoints;
  Stepper stepper(h, breakpoints);
  StepCommand command;
  command.focus = {1};
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = r->interpreter->rank(1).steps;
    ASSERT_TRUE(stepper.run(command));
    EXPECT_EQ(r->interpreter->rank(1).steps, before + 1);
    EXPECT_EQ(digest_of(*r->interpreter), digests[h.position()]);
  }
  ASSERT_TRUE(h.go_to(2));
  ASSERT_TRUE(h.go_to(whole));
  EXPECT_EQ(digest_of(*r->interpreter), digests[whole]);
  EXPECT_EQ(h.branch(), 0u);
  EXPECT_EQ(second.issued_records, first.issued_records);
  EXPECT_EQ(second.decisions, first.decisions);
  // A decision that differs from the recorded one starts a branch, which has no recorded
  // continuation.
  ASSERT_TRUE(h.go_to(5));
  h.freeze(2);
  EXPECT_EQ(h.branch(), 1u);
  EXPECT_FALSE(h.recorded_next());
  EXPECT_EQ(h.size(), 6u);
}

class Debugger {
 public:
  explicit Debugger(const char* text) : run_(start(text)) {
    auto made = History::create(*run_->interpreter);
    history_ = std::move(*made);
    stepper_ = std::make_unique<Stepper>(*history_, breakpoints);
  }
  StopReport go(StepCommand::Kind kind, std::vector<Rank> focus = {},
                Direction direction = Direction::kForward) {
    StepCommand c;
    c.kind = kind;
    c.focus = std::move(focus);
    c.direction = direction;
    c.target = target;
    auto stop = stepper_->run(c);
    EXPECT_TRUE(stop) << (stop ? "" : stop.error().message());
    return stop ? *stop : StopReport{};
  }
  Interpreter& in() { return *run_->interpreter; }
  History& history() { return *history_; }
  Stepper& stepper() { return *stepper_; }
  std::string at(Rank rank) {
    const auto code = in().next_code(rank);
    return code ? in().code().address(*code) : "done";
  }

  BreakpointList breakpoints;
  std::vector<CodeIndex> target;

 private:
  std::unique_ptr<Run> run_;
  std::unique_ptr<History> history_;
  std::unique_ptr<Stepper> stepper_;
};

using Kind = StepCommand::Kind;
using Reason = StopReport::Reason;

TEST(Stepper, OverAndOutAndBackAgain) {
  Debugger d(kRing);
  for (int i = 0; i < 5; ++i) d.go(Kind::kInto, {0});
  EXPECT_EQ(d.at(0), "@ring#6");  // the loop
  d.go(Kind::kInto, {0});
  EXPECT_EQ(d.at(0), "@ring#7");
  const uint64_t inside = digest_of(d.in());
  EXPECT_EQ(d.go(Kind::kOut, {0}).reason, Reason::kStepped);
  EXPECT_EQ(d.at(0), "@ring#20");  // wait %last on host
  d.go(Kind::kOver, {0}, Direction::kBackward);
  EXPECT_EQ(d.at(0), "@ring#6");
  const auto over = d.go(Kind::kOver, {0});
  EXPECT_EQ(over.reason, Reason::kStepped);
  EXPECT_EQ(d.at(0), "@ring#20");
  EXPECT_EQ(d.go(Kind::kInto, {0}).reason, Reason::kStepped);  // other ranks step as far as needed
  EXPECT_EQ(d.at(0), "@ring#21");
  EXPECT_EQ(d.go(Kind::kOut, {0}, Direction::kBackward).reason, Reason::kBeginning);
  for (int i = 0; i < 6; ++i) d.go(Kind::kInto, {0});
  EXPECT_EQ(digest_of(d.in()), inside);
}

TEST(Stepper, DragsOnlyWhoIsNeeded) {
  Debugger d(kRing);
  // Rank 1 waits on the host for its group, so its neighbours must send and receive.
  d.target = find_codes(d.in().code(), "ring", 14);
  EXPECT_EQ(d.go(Kind::kToInstruction, {1}).reason, Reason::kStepped);
  EXPECT_EQ(d.in().rank(1).status, RankStatus::kBlocked);
  EXPECT_EQ(d.in().rank(0).steps, 0u);
  const auto stop = d.go(Kind::kInto, {1});
  EXPECT_EQ(stop.reason, Reason::kStepped);
  EXPECT_EQ(d.at(0), "@ring#13");  // just after its group
  EXPECT_EQ(d.at(2), "@ring#13");
  EXPECT_EQ(stop.moved.size(), 3u);
}

TEST(Stepper, RendezvousThenThroughIt) {
  Debugger d(kMlp);
  EXPECT_EQ(d.go(Kind::kRendezvous, {5}).reason, Reason::kStepped);
  for (Rank r = 4; r < 8; ++r) EXPECT_EQ(d.at(r), "@mlp#10");
  EXPECT_EQ(d.at(0), "@mlp#1");
  EXPECT_EQ(d.go(Kind::kRendezvous, {5}).reason, Reason::kStepped);
  for (Rank r = 4; r < 8; ++r) EXPECT_EQ(d.at(r), "@mlp#11");
  EXPECT_EQ(d.go(Kind::kRendezvous, {5}, Direction::kBackward).reason, Reason::kStepped);
  for (Rank r = 4; r < 8; ++r) EXPECT_EQ(d.at(r), "@mlp#10");
}

TEST(Breakpoints, CountHitsForwardsAndBackwards) {
  Debugger d(kRing);
  Breakpoint b;
  b.codes = find_codes(d.in().code(), "ring", 8);
  b.ranks = {2};
  b.condition = IndexExpr::binary(
      IndexExpr::Kind::kEq, IndexExpr::binary(IndexExpr::Kind::kMod, IndexExpr::name("i"), 2), 1);
  const uint32_t id = d.breakpoints.add(b);
  std::vector<uint64_t> positions;
  std::vector<uint64_t> digests;
  for (int i = 0; i < 3; ++i) {
    const auto stop = d.go(Kind::kContinue);
    ASSERT_EQ(stop.reason, Reason::kBreakpoint);
    EXPECT_EQ(stop.breakpoint, id);
    EXPECT_EQ(stop.rank, 2);
    positions.push_back(d.history().position());
    digests.push_back(digest_of(d.in()));
    EXPECT_EQ(d.breakpoints.all()[0].hits, static_cast<uint64_t>(i + 1));
  }
  EXPECT_EQ(d.go(Kind::kContinue).reason, Reason::kFinished);
  for (int i = 3; i-- > 0;) {
    ASSERT_EQ(d.go(Kind::kContinue, {}, Direction::kBackward).reason, Reason::kBreakpoint);
    EXPECT_EQ(d.history().position(), positions[static_cast<size_t>(i)]);
    EXPECT_EQ(digest_of(d.in()), digests[static_cast<size_t>(i)]);
    EXPECT_EQ(d.breakpoints.all()[0].hits, static_cast<uint64_t>(i + 1));
  }
  EXPECT_EQ(d.go(Kind::kContinue, {}, Direction::kBackward).reason, Reason::kBeginning);
  ASSERT_EQ(d.go(Kind::kContinue).reason, Reason::kBreakpoint);
  EXPECT_EQ(d.history().position(), positions[0]);
}

// `hits` depends only on the position, not on how it was reached.
TEST(Breakpoints, HitsFollowPlainTravel) {
  Debugger d(kRing);
  Breakpoint b;
  b.codes = find_codes(d.in().code(), "ring", 8);
  b.ranks = {2};
  d.breakpoints.add(b);
  std::vector<uint64_t> positions;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(d.go(Kind::kContinue).reason, Reason::kBreakpoint);
    positions.push_back(d.history().position());
  }
  const auto hits_at = [&](uint64_t position) {
    EXPECT_TRUE(d.history().go_to(position));
    d.stepper().moved();
    return d.breakpoints.all()[0].hits;
  };
  EXPECT_EQ(hits_at(positions[1]), 2u);
  EXPECT_EQ(hits_at(positions[0] - 1), 0u);
  EXPECT_EQ(hits_at(positions[2]), 3u);
  EXPECT_EQ(hits_at(positions[3] - 1), 3u);
  EXPECT_EQ(hits_at(positions[0]), 1u);
  // Going to the position counts as the same hit, so the next one is again the second.
  ASSERT_EQ(d.go(Kind::kContinue).reason, Reason::kBreakpoint);
  EXPECT_EQ(d.history().position(), positions[0]);
  EXPECT_EQ(d.breakpoints.all()[0].hits, 1u);
  ASSERT_EQ(d.go(Kind::kContinue).reason, Reason::kBreakpoint);
  EXPECT_EQ(d.history().position(), positions[1]);
  EXPECT_EQ(d.breakpoints.all()[0].hits, 2u);
}

TEST(Breakpoints, OnWritesAndCollectives) {
  Debugger d(kMlp);
  Breakpoint w;
  w.kind = Breakpoint::Kind::kWritten;
  w.tensor = "y";
  w.ranks = {3};
  d.breakpoints.add(w);
  const auto first = d.go(Kind::kContinue);
  ASSERT_EQ(first.reason, Reason::kBreakpoint);
  EXPECT_EQ(d.in().code().address(first.code), "@mlp#7");
  const auto second = d.go(Kind::kContinue);
  ASSERT_EQ(second.reason, Reason::kBreakpoint);
  EXPECT_EQ(d.in().code().address(second.code), "@mlp#10");
  const auto back = d.go(Kind::kContinue, {}, Direction::kBackward);
  EXPECT_EQ(d.in().code().address(back.code), "@mlp#7");
  d.breakpoints.all().clear();
  Breakpoint c;
  c.kind = Breakpoint::Kind::kCollective;
  c.comm = "c";
  c.ignore = 7;
  d.breakpoints.add(c);
  const auto last = d.go(Kind::kContinue);
  EXPECT_EQ(last.reason, Reason::kBreakpoint);
  EXPECT_EQ(last.rank, 7);
}

// A backend with slow checkpoints, as when much work is in flight.
class SlowCheckpoints final : public Backend, private Checkpoints {
 public:
  static constexpr auto kTakes = std::chrono::milliseconds(3);

  Capabilities capabilities() const override { return inner_.capabilities(); }
  Expected<void> prepare(const Code& code) override { return inner_.prepare(code); }
  Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                       int64_t offset, std::span<const std::byte> data) override {
    return inner_.write(rank, allocation, placement, offset, data);
  }
  const Error* issue(std::span<const Task> tasks) override { return inner_.issue(tasks); }
  Progress poll(const Hosts& hosts, CompletionSink& sink) override {
    return inner_.poll(hosts, sink);
  }
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override {
    return inner_.read(rank, buffer, box);
  }
  void set_value_mode(ValueMode) override {}
  std::string describe(CodeIndex, Rank) const override { return ""; }
  Checkpoints* checkpoints() override { return this; }

 private:
  Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const override {
    const auto processor_ns = [] {
      timespec t{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
      return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    const int64_t end = processor_ns() + std::chrono::nanoseconds(kTakes).count();
    while (processor_ns() < end) {
    }
    return inner_.checkpoints()->checkpoint();
  }
  Expected<void> restore(const BackendCheckpoint& c) override {
    return inner_.checkpoints()->restore(c);
  }

  mutable NullBackend inner_;
};

TEST(History, CheckpointsCostAtMostAFractionOfTheRun) {
  SlowCheckpoints backend;
  const auto code = compile(kMlp);
  ASSERT_TRUE(code);
  InterpreterOptions options;
  options.issue_ns = 10;
  const auto in = Interpreter::create(code, backend, nullptr, options);
  ASSERT_TRUE(in);
  HistoryOptions dense;
  dense.spacing_ns = 0;  // by itself, this would mean one checkpoint per decision
  const auto history = History::create(**in, dense);
  ASSERT_TRUE(history);
  const auto begin = std::chrono::steady_clock::now();
  while (const auto rank = (*in)->next_rank()) ASSERT_TRUE((*history)->step(*rank));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT((*history)->size(), 40u);
  // Each checkpoint except the first waits for four times its own cost in execution time.
  EXPECT_LE(static_cast<int64_t>(checkpoint_count(**history)),
            2 + took / (4 * SlowCheckpoints::kTakes));
}

}  // namespace
}  // namespace hostir::interp::test
