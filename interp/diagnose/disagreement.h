// Members of a recorded meeting that do not fit together, and which of them are in the minority.
#pragma once

#include <optional>
#include <vector>

#include "interp/diagnose/queues.h"

namespace hostir::diagnose {

struct Disagreement {
  const model::Meeting* meeting = nullptr;
  const model::SendRecv* pair = nullptr;
  bool blocks = false;                        // the calls agree, what one sends another expects not
  std::vector<const model::Member*> members;  // all that came, by rank
  std::vector<const model::Member*> odd;      // not of the majority; empty: there is no majority
  std::vector<const model::Member*> expected;

  model::CommunicatorId communicator() const {
    return meeting ? meeting->communicator : pair->communicator;
  }
  uint64_t sequence() const { return meeting ? meeting->sequence : pair->ordinal; }
  MemberRef ref(const model::Member& member) const { return {meeting, pair, &member}; }
  const model::Member* member(model::Rank rank) const;
};

/// The one that was called first. Members that did not come, or of which nothing is recorded, are
/// not counted.
std::optional<Disagreement> first_disagreement(const model::Run& run);

}  // namespace hostir::diagnose
