// Matches recvs to sends.
//
// Between two ranks of a group the k-th send meets the k-th recv. If a ring buffer lost the first
// ones, the two sides are aligned by completed calls: as many sends completed as recvs. If one side
// is not on record at all, calls that are older than its record may have met.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

struct PairSide {
  model::Rank rank = model::kNoRank;
  uint64_t order = 0;  // index among the rank's calls
  const ProcessDump* dump = nullptr;
  const DumpCall* call = nullptr;
  model::CommunicatorId communicator;
  model::ClockId clock;
};

struct OrderedCall {
  PairSide side;
  bool sends = false;
  model::Rank peer = model::kNoRank;
  uint64_t ordinal = 0;
  bool may_have_met = false;  // the other side is not on record, and may be lost
};

class PairOrder {
 public:
  /// Sends and recvs that the rank made before its first recorded call may be missing.
  void lost_before(model::Rank rank, const ProcessDump& dump);
  /// The dump and its call must live until the last use.
  void add(const PairSide& side);
  /// All calls with a known peer, with their ordinals; omits those that may have met a lost call.
  std::vector<OrderedCall> ordered() const;
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Line {
    std::vector<PairSide> sends;
    std::vector<PairSide> recvs;
  };
  bool may_have_met(const PairSide& side, model::Rank peer) const;

  std::map<std::tuple<model::CommunicatorId, model::Rank, model::Rank>, Line> lines_;
  std::map<model::Rank, int64_t> begin_ns_;  // of the records that lost their first calls
  std::vector<std::string> remarks_;
};

}  // namespace hostir::traces::import
