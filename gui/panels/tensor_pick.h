// Which tensor the value panels show: the selected one, else what the focus rank works on.
#pragma once

#include <string>
#include <vector>

#include "gui/panel.h"
#include "gui/tensor_index.h"

namespace hostir::gui {

/// Names of all tensors that are live on a rank, parameters first.
std::vector<std::string> tensor_names(const interp::Snapshot& shot);

/// A combo box of all tensors and a box "follow": while it is on, the selection is the tensor of
/// the collective at hand, else the newest write of the focus rank. Choosing a tensor anywhere
/// turns it off. Returns what is shown, valid in this frame.
const TensorView& pick_tensor(Frame& frame, const std::string& widget);

/// Why nothing is shown of `name`: it was freed, or nobody has allocated it yet; empty: `name` is.
std::string absent_text(const interp::Snapshot& shot, const std::string& name);

/// `f32 [10, 7]  <@m, [{x}, {}]>  S(0)@x`
std::string describe_type(const interp::AllocationSnapshot& allocation);
/// The same with another layout; null: none.
std::string describe_type(const interp::AllocationSnapshot& allocation, const Sharding* sharding);

}  // namespace hostir::gui
