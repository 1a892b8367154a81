// How far a command moved a rank.
#pragma once

#include <cstdint>

#include "interp/core/ids.h"

namespace hostir::interp {

/// The number of host instructions by which a command moved a rank; negative: backwards.
struct RankMove {
  Rank rank = kNoRank;
  int64_t steps = 0;
};

}  // namespace hostir::interp
