// Who sends to whom in a `permute`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "interp/session/prepare/program_view.h"

namespace hostir::gui {

using RankRoute = std::pair<interp::Rank, interp::Rank>;  // from, to

/// Positions among `count` members. Empty if the instruction is not a permute, or if its shift is
/// known only when it runs.
std::vector<std::pair<int64_t, int64_t>> permute_positions(const interp::Code& code,
                                                           interp::CodeIndex index,
                                                           interp::Rank rank, int64_t count);

/// The same as ranks. Empty for a log whose program is not known.
std::vector<RankRoute> permute_routes(const interp::ProgramView& program, interp::CodeIndex index,
                                      std::span<const interp::Rank> members);

/// `r0→r1→r2→r0, r3→r4`; after a few of many routes their number.
std::string routes_text(std::span<const RankRoute> routes);

}  // namespace hostir::gui
