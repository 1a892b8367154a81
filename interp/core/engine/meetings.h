// Arriving at a meeting: fills the ledger row and compares it with the earlier arrivals.
//
// Collectives meet by (communicator, group, sequence number), send and recv by (communicator,
// source, target, ordinal). A disagreement is reported once a strict majority of the members
// agrees, all have arrived, or nothing can move, whichever comes first. Until then it is unknown
// which member is wrong. Only the fast checks are here; interp/diagnose writes the sentence.
#pragma once

#include <string>
#include <vector>

#include "interp/core/communication_facts.h"
#include "interp/core/engine/races.h"

namespace hostir::interp {

/// True if two members of a collective issued matching calls.
bool arrivals_agree(const Arrival& a, const Arrival& b);

class Meetings {
 public:
  Meetings(RunContext& run, FaultReporter& faults, RaceDetector& races)
      : run_(run), faults_(faults), races_(races) {}

  /// A rank's call of a collective. False after a fault.
  bool arrive(Step& step, TaskRecord& task, ResolvedCall& call);
  /// A send or a recv. False after a fault.
  bool arrive_pair(Step& step, TaskRecord& task, ResolvedCall& call);
  void mark_finished(const TaskRecord& task, TaskId id, Rank rank);
  /// Reports the verdict on the current run as a fault; true if nothing is wrong.
  bool report_verdict();
  /// Adds a process that did not report the positions of its ranks to the verdict, and why.
  void add_absent(std::string process) { absent_.push_back(std::move(process)); }

 private:
  void check_received(const Pair& pair);

  RunContext& run_;
  FaultReporter& faults_;
  RaceDetector& races_;
  std::vector<std::string> absent_;
};

}  // namespace hostir::interp
