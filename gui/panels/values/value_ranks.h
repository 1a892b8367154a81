// All ranks side by side: one row per element, one column per rank, to compare copies and addends.
#pragma once

#include "gui/panels/values/value_text.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

void draw_value_ranks(Frame& frame, const TensorView& tensor, ValueFormat format);

}  // namespace hostir::gui
