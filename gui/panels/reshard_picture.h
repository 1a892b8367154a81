// The move of a collective, from left to right: source layout, ribbons from rank to rank, result.
#pragma once

#include <map>
#include <string>

#include "gui/panels/layout_picture.h"
#include "gui/panels/reshard.h"

namespace hostir::gui {

/// The collective that is looked at: the selected instruction, else where the focus rank stands,
/// else what it has in flight; nothing where that is no communication.
std::optional<interp::CodeIndex> current_collective(const Model& model);

/// The rank whose group is shown: after a mismatch at this instruction a member of the meeting that
/// it is about (the selected one, the focus, who ended the run), else the focus.
interp::Rank meeting_rank(const Model& model, interp::CodeIndex collective);

/// Members that have not come to the collective, have called something else, or have other work
/// first: `has not arrived`, `called max`. Empty where all have, where it is done, or where nobody
/// has come yet and can still come. Looks through the ledger: once per state of the run.
std::map<interp::Rank, std::string> absent_members(const interp::Snapshot& shot,
                                                   const Reshard& reshard);

/// Draws into the current window's free space; higher than it where there are many members.
/// `absent`: as `absent_members` says.
void draw_reshard(Frame& frame, const Reshard& reshard,
                  const std::map<interp::Rank, std::string>& absent);

}  // namespace hostir::gui
