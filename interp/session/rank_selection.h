// Resolves rank selectors in a given program.
#pragma once

#include <vector>

#include "interp/core/code.h"
#include "interp/session/command.h"

namespace hostir::interp {

/// Sorted, never empty. An omitted selector means `focus`. Errors (kUsage): ranks that do not
/// exist, axes that the mesh does not have, coordinates out of range.
Expected<std::vector<Rank>> select_ranks(const RankSelector& selector, const Code& code,
                                         Rank focus);

/// `rank 3`, `ranks 0, 2`, `ranks 4..7`, `all ranks`.
std::string ranks_to_string(const std::vector<Rank>& ranks, Rank rank_count);

}  // namespace hostir::interp
