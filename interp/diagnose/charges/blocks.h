// Blocks of an all_to_all or permute: what one member sends must be what the other expects.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interp/model/meeting.h"

namespace hostir::diagnose {

/// Sender and receiver, by position.
using BlockPair = std::pair<size_t, size_t>;

/// The pairs whose sent and expected sizes differ.
std::vector<BlockPair> unequal_blocks(const model::Meeting& meeting);
/// The one member that is in every mismatched pair, if there are several pairs and exactly one such
/// member.
std::optional<size_t> in_every_pair(const std::vector<BlockPair>& wrong);
/// `rank 0 sends 16 elements to rank 1, which expects 8`, and what the odd member states, or the
/// shifts of the members of a permute. `wrong` is not empty.
std::string blocks_text(const model::Meeting& meeting, const std::vector<BlockPair>& wrong);

}  // namespace hostir::diagnose
