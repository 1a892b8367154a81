// Which tensor the value panels show: the selected one, else the one that the focus rank works on.
#pragma once

#include <string>
#include <vector>

#include "gui/state/tensor_index.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// Names of all tensors live on any rank, parameters first.
std::vector<std::string> tensor_names(const interp::Snapshot& shot);

/// Draws a combo box of all tensors and a check box "follow". While it is on, the selection follows
/// the tensor of the current collective, else the newest write of the focus rank. Choosing a tensor
/// anywhere turns it off. Returns the shown tensor, valid in this frame.
const TensorView& pick_tensor(Frame& frame, const std::string& widget);
/// `%name` without its middle if that is too wide for the current font: a name that is cut reads as
/// another one.
std::string short_name(const std::string& name, float width);
/// The combo box alone, for a panel that has the check box elsewhere.
const TensorView& tensor_combo(Frame& frame, const std::string& widget);
void follow_box(Frame& frame, const std::string& widget);

/// Why `name` cannot be shown: it was freed, or it is not allocated yet. Without a name: why there
/// is none to choose; empty if there are some.
std::string absent_text(const interp::Snapshot& shot, const std::string& name);

/// `f32 [10, 7]  [{x}, {}]  S(0)@x`
std::string describe_type(const interp::AllocationSnapshot& allocation);
/// `sharding` null: no layout.
std::string describe_type(DType dtype, const Extents& global, const Sharding* sharding);

}  // namespace hostir::gui
