// Reading one side of a comparison: which part of a log belongs to a run, edits, faults.
#include "interp/session/diff/run_writes.h"

#include <gtest/gtest.h>

#include <span>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {
namespace {

// A log in memory: writes in `values`, each with its index as row.
class MemoryLog final : public LogView {
 public:
  const LogRun& run() const override { return run_; }
  const std::vector<LogTrack>& tracks() const override { return tracks_; }
  const std::vector<LogInstruction>& instructions() const override { return instructions_; }
  const std::vector<LogCommunicator>& communicators() const override { return communicators_; }
  const std::vector<LogTensor>& tensors() const override { return tensors_; }
  const std::vector<LogExplain>& explanations() const override { return explanations_; }
  const std::vector<LogInput>& inputs() const override { return inputs_; }
  Expected<LogExtent> refresh(std::stop_token) override { return LogExtent{}; }
  LogExtent extent() const override { return {}; }
  LogProgress progress() const override { return {}; }
  bool shows(int64_t) const override { return true; }
  std::vector<TimelineSlice> timeline(const TimelineRequest&) const override { return {}; }
  std::vector<TimelineSum> sums(int64_t, int64_t) const override { return {}; }
  Expected<void> durations(TrackId, int64_t, int64_t, std::vector<Durations>&,
                           std::stop_token) const override {
    return {};
  }
  Expected<std::vector<LogEvent>> events(const EventFilter&, std::stop_token) const override {
    return std::vector<LogEvent>();
  }
  Expected<LogEvent> event(int64_t) const override { return LogEvent{}; }
  std::string loop_path(LoopPathId) const override { return {}; }
  Expected<std::vector<LogCollective>> collectives(const EventFilter&,
                                                   std::stop_token) const override {
    return std::vector<LogCollective>();
  }
  Expected<std::vector<LogMemoryPoint>> memory(Rank, int64_t, int64_t, int32_t,
                                               std::stop_token) const override {
    return std::vector<LogMemoryPoint>();
  }
  Expected<LogWrites> find_writes(const WriteFilter&, std::stop_token) const override {
    LogWrites found;
    for (size_t i = 0; i < values.size(); ++i)
      found.places.push_back({values[i].event, static_cast<int64_t>(i), values[i].rank});
    return found;
  }
  Expected<std::vector<LogValue>> read_writes(std::span<const LogWrite> places,
                                              const std::optional<std::vector<int64_t>>&,
                                              std::stop_token) const override {
    std::vector<LogValue> found;
    for (const LogWrite& place : places) {
      LogValue value = values[static_cast<size_t>(place.row)];
      value.row = place.row;
      if (value.tensor >= 0) found.push_back(value);  // unknown tensors are omitted
    }
    return found;
  }
  Expected<Tensor> contents(const LogWrite&) const override { return Tensor{}; }
  Expected<std::vector<FaultRecord>> faults() const override { return all_faults; }
  Expected<std::vector<DecisionRecord>> decisions() const override { return all_decisions; }
  Expected<LogTable> query(std::string_view, int64_t, std::stop_token) const override {
    return LogTable{};
  }
  Expected<void> save(const std::string&) const override { return {}; }

  void add(int64_t event, Rank rank, int64_t tensor, uint64_t decision, uint32_t branch = 0) {
    LogValue v;
    v.event = event;
    v.rank = rank;
    v.tensor = tensor;
    v.decision = decision;
    v.branch = branch;
    values.push_back(v);
  }
  std::vector<LogValue> values;
  std::vector<FaultRecord> all_faults;
  std::vector<DecisionRecord> all_decisions;

 private:
  LogRun run_;
  std::vector<LogTrack> tracks_;
  std::vector<LogInstruction> instructions_;
  std::vector<LogCommunicator> communicators_;
  std::vector<LogTensor> tensors_{LogTensor{}, LogTensor{}, LogTensor{}};
  std::vector<LogExplain> explanations_;
  std::vector<LogInput> inputs_;
};

RunWrites read(const LogView& log, std::optional<RunLimit> limit = std::nullopt) {
  DiffProgress progress;
  auto writes = read_writes_of(log, limit, progress, {});
  EXPECT_TRUE(writes);
  return writes ? std::move(*writes) : RunWrites{};
}

using Kind = DecisionRecord::Kind;

TEST(WritesOfARun, WhatIsLoggedAfterwardsIsNotPartOfAKeptRun) {
  MemoryLog log;
  log.add(0, 0, 0, 0);
  log.add(1, 0, 0, 4);
  log.add(2, 0, 0, 5);  // later, on the same branch
  EXPECT_EQ(read(log).writes.size(), 3u);
  EXPECT_EQ(read(log, RunLimit{0, 5}).writes.size(), 2u);
  // Then the user goes back to 2 and takes another path.
  log.all_decisions.push_back({Kind::kBranch, 2, 1, kNoRank, "0"});
  log.add(3, 0, 0, 2, 1);
  EXPECT_EQ(read(log, RunLimit{0, 5}).writes.size(), 2u) << "the old branch up to the limit";
  EXPECT_EQ(read(log).writes.size(), 2u) << "the new branch and what it came from";
  EXPECT_EQ(read(log, RunLimit{1, 2}).writes.size(), 1u);
}

TEST(WritesOfARun, OutputsOfOneEventKeepTheirRows) {
  MemoryLog log;
  log.add(7, 1, -1, 0);  // an output unknown to the log
  log.add(7, 1, 2, 0);
  const RunWrites run = read(log);
  ASSERT_EQ(run.writes.size(), 1u);
  EXPECT_EQ(run.writes[0].tensor, 2u);
  EXPECT_EQ(run.writes[0].row, 1) << "the row of the other output";
}

TEST(WritesOfARun, EditsOfOtherBytesAreNotOneEdit) {
  MemoryLog log;
  log.all_decisions = {{Kind::kEdit, 5, 0, 0, "%x+0:0000e040"},
                       {Kind::kEdit, 6, 0, 1, "%x+0:0000e040"},
                       {Kind::kEdit, 7, 0, 2, "%x+0:0000803f"}};
  const RunWrites run = read(log);
  ASSERT_EQ(run.edits.size(), 2u);
  EXPECT_EQ(run.edits[0].ranks, (std::vector<Rank>{0, 1}));
  EXPECT_EQ(run.edits[1].ranks, (std::vector<Rank>{2}));
  EXPECT_EQ(run.edits[1].data, "0000803f");
}

TEST(WritesOfARun, FaultsOfAKeptRunAreThoseThatItHadThen) {
  auto log = std::make_shared<MemoryLog>();
  RunDiff diff;
  diff.a.log = diff.b.log = log.get();
  diff.a.writes = std::make_shared<const RunWrites>(read(*log));
  log->all_faults.push_back({"deadlock", "Ranks 0 and 1 wait for each other.", {}, {}, {}});
  diff.b.writes = std::make_shared<const RunWrites>(read(*log));
  ASSERT_TRUE(compare_structure(diff, {}));
  ASSERT_FALSE(diff.facts.empty());
  EXPECT_EQ(diff.facts.back().sentence,
            "In A: nothing went wrong. In B: Ranks 0 and 1 wait for each other.");
}

}  // namespace
}  // namespace hostir::interp
