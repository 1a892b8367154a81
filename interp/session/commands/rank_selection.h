// Resolves rank selectors in a given program.
#pragma once

#include <vector>

#include "hostir/ir/mesh.h"
#include "interp/session/commands/command.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::interp {

/// Sorted, never empty. An omitted selector means `focus`. `mesh`: the mesh of all ranks, or null
/// if it is unknown. Errors (kUsage): ranks that do not exist, axes that the mesh does not have,
/// coordinates out of range.
Expected<std::vector<Rank>> select_ranks(const RankSelector& selector, const Mesh* mesh,
                                         Rank rank_count, Rank focus);
/// The same in the snapshot's program, with its focus.
Expected<std::vector<Rank>> select_ranks(const RankSelector& selector, const Snapshot& snapshot);

/// `rank 3`, `ranks 0, 2`, `ranks 4..7`, `all ranks`.
std::string ranks_to_string(const std::vector<Rank>& ranks, Rank rank_count);

}  // namespace hostir::interp
