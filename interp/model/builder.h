// Fills a Run, piece by piece and in any order: for importers, for readers of logs, for tests.
//
// Say what the source says and nothing else. `finish` puts everything in order and works out what
// follows from it: members of a meeting that no row tells of are kNotArrived where their rank's
// record is whole and reaches that far, else kUnknown; ranks that a communicator lists and that no
// record tells of are kMissing, with a gap. References stay valid until the next call.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/model/run.h"

namespace hostir::model {

class RunBuilder {
 public:
  /// Producer, motion: everything that is not a list.
  Run& run() { return run_; }

  /// The facts of a rank, made if they are not there. A rank that was asked for has a record
  /// unless it is said otherwise.
  RankFacts& rank(Rank rank);
  /// Ranks below `count` exist, whether anything tells of them or not.
  void expect_ranks(Rank count);

  ClockId clock(const Clock& clock);
  StreamId stream(const Stream& stream);
  InstructionId instruction(Instruction instruction);
  /// The communicator with this name, description, group and members, made if it is not there.
  CommunicatorId communicator(const Communicator& communicator);
  Communicator& communicator(CommunicatorId id) { return run_.communicators[id.index]; }

  Task& task(TaskId id);
  Memory& memory(Rank rank);

  /// The rank's side of a collective; kScheduled when it is new.
  Member& arrive(CommunicatorId communicator, uint64_t sequence, Rank rank);
  Member& send(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);
  Member& recv(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal);
  /// The rank's calls below `first` were lost.
  void lost_before(Rank rank, CommunicatorId communicator, uint64_t first);

  void gap(Gap gap) { run_.gaps.push_back(std::move(gap)); }
  /// What two sources tell differently.
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
  std::vector<bool> told_;  // by rank: somebody asked for its facts
  std::map<std::pair<CommunicatorId, uint64_t>, size_t> meeting_of_;
  std::map<PairKey, size_t> pair_of_;
  std::map<TaskId, size_t> task_of_;
  std::map<std::pair<Rank, CommunicatorId>, CallRange> range_of_;
  std::map<std::string, std::vector<uint32_t>> instruction_of_;   // by its texts, joined
  std::map<std::string, std::vector<uint32_t>> communicator_of_;  // by its texts and members
};

}  // namespace hostir::model
