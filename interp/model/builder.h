// Fills a Run piece by piece, in any order: for importers, log readers and tests.
//
// Add only what the source says. `finish` sorts everything and derives the rest. Members of a
// meeting without a row become kNotArrived if their rank's record is whole and reaches that far,
// else kUnknown. Ranks that a communicator lists but no record mentions become kMissing, with a
// gap. References stay valid until the next call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/model/run.h"

namespace hostir::model {

class RunBuilder {
 public:
  /// For producer, motion and everything else that is not a list.
  Run& run() { return run_; }

  /// The facts of a rank, created on first use. Accessing a rank marks it as having a record unless
  /// set otherwise.
  RankFacts& rank(Rank rank);
  /// Declares that ranks below `count` exist, whether or not anything is recorded about them.
  void expect_ranks(Rank count);

  ClockId clock(const Clock& clock);
  StreamId stream(const Stream& stream);
  InstructionId instruction(Instruction instruction);
  /// The communicator with this name, description, group and members; created if new.
  CommunicatorId communicator(const Communicator& communicator);

  Task& task(TaskId id);

  /// The rank's side of a collective; kScheduled if new.
  Member& arrive(CommunicatorId communicator, uint64_t sequence, Rank rank);
  Member& send(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);
  Member& recv(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);
  /// Declares that the rank's calls before `first` were lost.
  void lost_before(Rank rank, CommunicatorId communicator, uint64_t first);
  /// Declares that the other side of a pair may have been made, and lost.
  void lost_counterpart(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);

  void gap(Gap gap) { run_.gaps.push_back(std::move(gap)); }
  /// Records that two sources disagree.
  void contradiction(Rank rank, CommunicatorId communicator, std::optional<uint64_t> sequence,
                     std::string text);

  Run finish() &&;

 private:
  using PairKey = std::tuple<CommunicatorId, Rank, Rank, uint64_t>;
  SendRecv& pair(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);
  void order_members(Meeting& meeting);
  void complete_members();
  void add_missing_ranks();
  void add_late_beginnings();

  Run run_;
  std::vector<bool> told_;  // by rank: its facts were accessed
  std::map<std::pair<CommunicatorId, uint64_t>, size_t> meeting_of_;
  std::map<PairKey, size_t> pair_of_;
  std::set<PairKey> one_sided_;  // the other side is not known
  std::map<TaskId, size_t> task_of_;
  std::map<std::pair<Rank, CommunicatorId>, CallRange> range_of_;
  std::map<std::string, std::vector<uint32_t>> instruction_of_;   // by its texts, joined
  std::map<std::string, std::vector<uint32_t>> communicator_of_;  // by its texts and members
};

}  // namespace hostir::model
