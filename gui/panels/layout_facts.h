// What is known of the shown tensor and the selected element, in words: who holds it, whether the
// copies agree, which addends it is made of, who wrote it, how uneven the cuts are.
#pragma once

#include "gui/panel.h"
#include "gui/panels/layout_view.h"
#include "gui/panels/tensor_pick.h"

namespace hostir::gui {

/// Draws into the current window at the cursor, wrapped to its width.
void draw_layout_facts(Frame& frame, const TensorView& tensor, const LayoutView& view);

}  // namespace hostir::gui
