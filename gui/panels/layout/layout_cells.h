// Numbers in the cells of the layout picture.
//
// Each element has one number, its value. In a partial tensor this is the reduction of the addends,
// which are listed below it in the colours of their ranks.
#pragma once

#include "gui/panels/layout/layout_picture.h"
#include "gui/panels/layout/layout_view.h"

namespace hostir::gui {

/// What the cells belong to.
struct CellsOf {
  const TensorView& tensor;
  const LayoutView& view;
  const Plane& plane;
  const Picture& picture;
};

/// Draws the values of `box`, a slice of the tensor in the plane. Elements on which copies differ
/// are marked.
void draw_cell_values(Frame& frame, const CellsOf& of, const Tensor& values, const Box& box);

/// Draws the addends of a partial tensor, as many as the cells have room for. They may exist before
/// their reduction does, because ranks write at different times.
void draw_cell_addends(Frame& frame, const CellsOf& of);

}  // namespace hostir::gui
