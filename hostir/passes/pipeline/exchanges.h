// The communication of a schedule: which rank sends what to whom, and when.
//
//   1. The timetable with unit costs gives the time at which each action ends.
//   2. The results of a forward pass (or of an input gradient) go to the rank of the next
//      (previous) stage at that time.
//   3. All transfers of one rank at one time are one step, issued as a group.
// The transfers of all ranks thus have one common order in time. Hence ranks never wait for each
// other in a cycle, even if every send is a rendezvous and a rank does one step after another; more
// room between sender and receiver only makes sends wait less.
#pragma once

#include <optional>

#include "hostir/passes/pipeline/timetable.h"

namespace hostir::pipeline {

/// The results of `producer` for the next or previous stage, sent between two different ranks.
struct Transfer {
  Action producer;
  int64_t from = 0;
  int64_t to = 0;
  friend auto operator<=>(const Transfer&, const Transfer&) = default;
};

/// A rank's action, or its transfers at one time, in an order that all ranks share.
struct RankStep {
  std::optional<Action> action;     // else a group of transfers
  std::vector<Transfer> transfers;  // sends where `from` is this rank, else receives
};
using RankSteps = std::vector<RankStep>;

/// The steps of each rank. Errors: those of make_timetable().
Expected<std::vector<RankSteps>> plan_exchanges(const Schedule& schedule);

}  // namespace hostir::pipeline
