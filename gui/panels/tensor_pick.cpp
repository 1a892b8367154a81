#include "gui/panels/tensor_pick.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::gui {

TensorView find_tensor(const interp::Snapshot& shot, const std::string& name) {
  TensorView view;
  view.name = name;
  for (const auto& memory : shot.memory) {
    const interp::AllocationSnapshot* found = nullptr;
    for (const interp::AllocationSnapshot& a : memory->allocations) {
      if (a.name == name && (!found || (a.live && !found->live))) found = &a;
    }
    view.by_rank.push_back(found);
    if (found && !view.first) view.first = found;
  }
  return view;
}

std::vector<std::string> tensor_names(const interp::Snapshot& shot) {
  std::vector<std::string> names;
  for (const auto& memory : shot.memory) {
    for (const interp::AllocationSnapshot& a : memory->allocations) {
      if (std::find(names.begin(), names.end(), a.name) == names.end()) names.push_back(a.name);
    }
    if (!names.empty() && shot.memory.size() > 64) break;  // the same text runs on all of them
  }
  return names;
}

TensorView pick_tensor(Frame& frame, const std::string& widget) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  const std::vector<std::string> names = tensor_names(shot);
  std::string& selected = frame.model.selection.value;
  if (!names.empty() && std::find(names.begin(), names.end(), selected) == names.end()) {
    // The newest write of the focus rank is what a person who steps wants to see.
    const interp::AllocationSnapshot* newest = nullptr;
    for (const interp::AllocationSnapshot& a :
         shot.memory[static_cast<size_t>(shot.focus)]->allocations) {
      if (a.live && a.last_writer != interp::kNoTask &&
          (!newest || a.last_writer > newest->last_writer))
        newest = &a;
    }
    if (selected.empty()) selected = newest ? newest->name : names.front();
  }
  ImGui::SetNextItemWidth(frame.ui.px(130));
  if (ImGui::BeginCombo(("##" + widget).c_str(), ("%" + selected).c_str())) {
    for (const std::string& name : names) {
      if (ImGui::Selectable(("%" + name).c_str(), name == selected)) {
        selected = name;
        frame.model.selection.element.clear();
      }
      frame.ui.tag(widget + "/item/" + name);
    }
    ImGui::EndCombo();
  }
  frame.ui.tag(widget, selected);
  return find_tensor(shot, selected);
}

std::string describe_type(const interp::AllocationSnapshot& a) {
  std::string shape;
  for (const int64_t e : a.placement.global)
    shape += (shape.empty() ? "" : ", ") + std::to_string(e);
  std::string out = fmt::format("{} [{}]", name(a.placement.dtype), shape);
  const Sharding* sharding = sharding_of(a.type);
  if (sharding) out += "  " + sharding->dims_to_string() + "   " + sharding->to_pytorch();
  return out;
}

}  // namespace hostir::gui
