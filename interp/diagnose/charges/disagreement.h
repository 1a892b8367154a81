// Finds members of a recorded meeting whose calls do not match, and the minority among them.
#pragma once

#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

struct Disagreement {
  const model::Meeting* meeting = nullptr;
  const model::SendRecv* pair = nullptr;
  bool blocks = false;                        // the calls agree, but not the block sizes
  std::vector<const model::Member*> members;  // all that arrived, by rank
  std::vector<const model::Member*> odd;      // the minority; empty: there is no majority
  std::vector<const model::Member*> expected;

  model::CommunicatorId communicator() const {
    return meeting ? meeting->communicator : pair->communicator;
  }
  uint64_t sequence() const { return meeting ? meeting->sequence : pair->ordinal; }
  MemberRef ref(const model::Member& member) const { return {meeting, pair, &member}; }
  const model::Member* member(model::Rank rank) const;
};

/// True if a send and its recv, both issued, have different dtypes or sizes.
bool sides_differ(const model::SendRecv& pair);

/// The earliest disagreement of each communicator, earliest first. Members that did not arrive, or
/// that have no record, are not counted.
std::vector<Disagreement> first_disagreements(const model::Run& run);

}  // namespace hostir::diagnose
