// Two ranks' collectives on one communicator, laid beside each other.
//
// Gaps are calls that only one of the two makes. A gap of one that is a gap of the other elsewhere
// is a call in another place.
#pragma once

#include <vector>

#include "interp/diagnose/call_order.h"

namespace hostir::diagnose {

struct Beside {
  CallLine mine;
  CallLine theirs;
  std::vector<LaidCall> laid;
};

/// From the first call on that both records have.
Beside lay(const model::Run& run, model::Rank mine, model::Rank theirs,
           model::CommunicatorId communicator);

/// Behind the gap `at` both go on with the same call.
bool goes_on_alike(const Beside& beside, size_t at);
/// The other gap with the call of the gap `at`; SIZE_MAX: there is none.
size_t partner(const Beside& beside, size_t at);
/// The rank's next call from step `at` on; there must be one.
size_t next_mine(const Beside& beside, size_t at);
size_t next_theirs(const Beside& beside, size_t at);

}  // namespace hostir::diagnose
