// The data movement of a collective, left to right: source layout, ribbons from rank to rank,
// result.
#pragma once

#include <map>
#include <string>

#include "gui/panels/layout/layout_picture.h"
#include "gui/panels/layout/reshard.h"

namespace hostir::gui {

/// The collective to show: the selected instruction, else the focus rank's current one, else one it
/// has in flight. nullopt if that is not a communication.
std::optional<interp::CodeIndex> current_collective(const Model& model);

/// The rank whose group is shown. After a mismatch at this instruction it is a member of the
/// mismatched call (the selected rank, the focus, or the rank that ended the run); otherwise the
/// focus.
interp::Rank meeting_rank(const Model& model, interp::CodeIndex collective);

/// The peer's instruction of a send or recv, once both are issued.
std::optional<interp::CodeIndex> partner_of(const interp::Snapshot& shot, const Reshard& reshard);

/// Members that have not arrived at the collective, called something else, or have earlier work to
/// finish, with a text: `has not arrived`, `called max`. Empty if all have arrived, if it is done,
/// or if no member has arrived and all still can. Scans the ledger: call once per state of the run.
std::map<interp::Rank, std::string> absent_members(const interp::Snapshot& shot,
                                                   const Reshard& reshard);

/// Draws into the free space of the current window; grows beyond its height if there are many
/// members. `absent`: the result of `absent_members`.
void draw_reshard(Frame& frame, const Reshard& reshard,
                  const std::map<interp::Rank, std::string>& absent);

}  // namespace hostir::gui
