// The mesh as tiles: the last axis runs right, the one before it down, and the others form cards.
#pragma once

#include "gui/panels/layout/layout_picture.h"
#include "gui/panels/layout/layout_view.h"

namespace hostir::gui {

/// Draws the mesh into the area and returns the y where it ends. Each tile says what its rank
/// holds. Hovering a tile highlights the rank in all panels; a click makes it the focus. Axes over
/// which a value is still unreduced are marked.
float draw_mesh(Frame& frame, const std::string& name, const Mesh& mesh, const LayoutView& view,
                Area area);

}  // namespace hostir::gui
