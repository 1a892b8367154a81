// The move of a collective, from left to right: source layout, ribbons from rank to rank, result.
#pragma once

#include "gui/panels/layout_picture.h"
#include "gui/panels/reshard.h"

namespace hostir::gui {

/// The collective that is looked at: the selected instruction, else where the focus rank stands,
/// else what it has in flight; nothing where that is no communication.
std::optional<interp::CodeIndex> current_collective(const Model& model);

/// Draws into the current window's free space.
void draw_reshard(Frame& frame, const Reshard& reshard);

}  // namespace hostir::gui
