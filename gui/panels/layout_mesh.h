// The mesh as tiles: the last axis goes right, the one before it down, all others are cards.
#pragma once

#include "gui/panels/layout_picture.h"
#include "gui/panels/layout_view.h"

namespace hostir::gui {

/// Draws the mesh into the area and returns the y where it ends. Tiles say what a rank holds, are
/// hovered everywhere and focus their rank when clicked; axes over which a value still has to be
/// reduced are marked.
float draw_mesh(Frame& frame, const std::string& name, const Mesh& mesh, const LayoutView& view,
                Area area);

}  // namespace hostir::gui
