#include "gui/state/tensor_index.h"

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

const TensorView& TensorIndex::find(const interp::SnapshotPtr& shot, const std::string& name) {
  if (of_ != shot) {
    known_.clear();
    of_ = shot;
  }
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  ++searches_;
  return known_.emplace(name, find_tensor(*shot, name)).first->second;
}

}  // namespace hostir::gui
