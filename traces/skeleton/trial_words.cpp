// 1. Each rank's calls on each communicator, in order: as they are numbered in the simulation.
// 2. Communicators, calls and instructions of the simulated run are replaced by the recorded ones.
// 3. The verdict on that run is the sentence.

#include "traces/skeleton/trial_words.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/model/verdict.h"

namespace hostir::traces {

namespace {

using diagnose::JobCall;
using diagnose::JobCalls;
using model::CommunicatorId;
using model::InstructionId;
using model::Member;
using model::Rank;
using model::Run;
using Shape = JobCall::Shape;

/// The calls of a rank that are numbered together; the peer is that of a send or recv.
using Line = std::tuple<Rank, CommunicatorId, Shape, Rank>;
/// What numbers count: a communicator's collectives, or its sends from one rank to another.
using Series = std::tuple<CommunicatorId, Rank, Rank>;

class Renaming {
 public:
  Renaming(const Run& recorded, const JobCalls& job, const Skeleton& skeleton, const Run& simulated)
      : recorded_(recorded), run_(simulated) {
    for (size_t r = 0; r < job.size(); ++r) {
      for (const JobCall& call : job[r]) add(static_cast<Rank>(r), call);
    }
    for (const model::Communicator& c : run_.communicators) {
      const auto at = skeleton.communicators.find(c.name);
      named_.push_back(at == skeleton.communicators.end() ? CommunicatorId{} : at->second);
    }
  }

  Run renamed() {
    for (model::Meeting& meeting : run_.meetings) {
      const CommunicatorId communicator = named_[meeting.communicator.index];
      for (Member& member : meeting.members)
        rename({member.rank, communicator, Shape::kCollective, model::kNoRank}, meeting.sequence,
               member);
      meeting.sequence += first_number({communicator, model::kNoRank, model::kNoRank});
    }
    for (model::SendRecv& pair : run_.pairs) {
      const CommunicatorId communicator = named_[pair.communicator.index];
      rename({pair.source, communicator, Shape::kSend, pair.target}, pair.ordinal, pair.send);
      rename({pair.target, communicator, Shape::kRecv, pair.source}, pair.ordinal, pair.recv);
      pair.ordinal += first_number({communicator, pair.source, pair.target});
    }
    for (model::Task& task : run_.tasks) {
      const auto at = instructions_.find(task.id);
      if (at != instructions_.end()) task.instruction = at->second;
    }
    for (size_t c = 0; c < named_.size(); ++c) {
      if (const model::Communicator* facts = recorded_.find(named_[c]))
        run_.communicators[c] = *facts;
    }
    for (model::RankFacts& rank : run_.ranks) {
      // It has made all its calls on record, which does not mean that its program has ended.
      if (rank.state == model::RankState::kDone) rank.state = model::RankState::kUnknown;
    }
    for (const model::Task& task : run_.tasks) {
      model::RankFacts& rank = run_.ranks[static_cast<size_t>(task.rank())];
      if (task.state != model::TaskState::kFinished && rank.state == model::RankState::kUnknown)
        rank.state = model::RankState::kDone;  // its streams still wait
    }
    run_.motion = model::Motion::kStuck;  // also after a mismatch
    return std::move(run_);
  }

 private:
  void add(Rank rank, const JobCall& call) {
    lines_[{rank, call.communicator, call.shape, call.peer}].push_back(&call);
    const diagnose::MemberRef& from = call.from;
    const bool numbered = from.meeting != nullptr || from.pair != nullptr;
    if (!numbered || from.communicator() != call.communicator) return;
    Series series = {call.communicator, model::kNoRank, model::kNoRank};
    if (from.pair != nullptr) series = {call.communicator, from.pair->source, from.pair->target};
    const auto [at, added] = first_.try_emplace(series, from.sequence());
    if (!added) at->second = std::min(at->second, from.sequence());
  }

  void rename(const Line& line, uint64_t number, Member& member) {
    const auto at = lines_.find(line);
    if (at == lines_.end() || number >= at->second.size() || !member.arrived()) return;
    const JobCall& call = *at->second[number];
    // Sizes may be smaller in the simulation, and reductions are made up if none is recorded.
    member.call.name = call.call.name;
    member.call.reduction = call.call.reduction;
    member.call.shape = call.call.shape;
    if (!call.call.sends.empty() && !call.call.receives.empty()) {
      member.call.sends = call.call.sends;
      member.call.receives = call.call.receives;
    }
    const InstructionId id(static_cast<uint32_t>(run_.instructions.size()));
    const auto [known, added] = instructions_.try_emplace(member.task, id);
    if (added) {
      model::Instruction instruction;
      if (!call.place.empty()) instruction.place = model::SourcePlace{call.place, {}};
      run_.instructions.push_back(std::move(instruction));
    }
    member.instruction = known->second;
  }

  // The recorded number of the first call in the simulation: a dump may begin later, or count from
  // 1.
  uint64_t first_number(const Series& series) const {
    const auto at = first_.find(series);
    return at == first_.end() ? 0 : at->second;
  }

  const Run& recorded_;
  Run run_;
  std::map<Line, std::vector<const JobCall*>> lines_;
  std::map<Series, uint64_t> first_;
  std::vector<CommunicatorId> named_;                    // by simulated communicator
  std::map<model::TaskId, InstructionId> instructions_;  // of launches
};

}  // namespace

std::string stop_sentence(const Run& recorded, const JobCalls& job, const Skeleton& skeleton,
                          const Run& simulated) {
  return diagnose::diagnose(Renaming(recorded, job, skeleton, simulated).renamed()).sentence;
}

}  // namespace hostir::traces
