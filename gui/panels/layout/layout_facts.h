// Facts about the shown tensor and the selected element, in words: which ranks hold it, whether the
// copies agree, its addends, its last writer, and how uneven the shards are.
#pragma once

#include "gui/panels/layout/layout_view.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// Draws at the cursor of the current window, wrapped to its width.
void draw_layout_facts(Frame& frame, const TensorView& tensor, const LayoutView& view);

}  // namespace hostir::gui
