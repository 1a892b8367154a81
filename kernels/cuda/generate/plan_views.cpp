// How values are accessed: in memory, as views of it, or in registers.
#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

using kernels::StridedView;

StridedView Planner::view_of(uint32_t value) const {
  const ValueState& state = states_[value];
  if (state.at == ValueState::At::kView) return state.view;
  return kernels::dense_view(value, placement(value));
}

std::optional<Walk> Planner::walk_over(uint32_t value, const Box& box) const {
  const Placement& p = placement(value);
  const StridedView view = view_of(value);
  if (p.box.lo.size() != box.lo.size()) {  // a scalar is broadcast
    if (p.box.volume() != 1) return std::nullopt;
    return Walk{view.offset, Extents(box.lo.size(), 0)};
  }
  const auto part = kernels::sub_view(view, p.box, box);
  if (!part) return std::nullopt;
  return Walk{part->offset, part->strides};
}

// The open group that holds the value behind a view, or -1.
int Planner::group_holding(uint32_t value) const {
  if (states_[value].at == ValueState::At::kLiteral) return -1;
  const ValueState& root = states_[root_of(value)];
  return root.at == ValueState::At::kGroup ? root.group : -1;
}

int Planner::root_buffer(uint32_t value) {
  const int group = group_holding(value);
  if (group >= 0) close(group);
  return states_[root_of(value)].buffer;
}

int Planner::materialise(uint32_t value) {
  if (states_[value].at == ValueState::At::kMemory) return states_[value].buffer;
  const Placement& p = placement(value);
  if (states_[value].at == ValueState::At::kGroup) {
    close(states_[value].group);
    return states_[value].buffer;
  }
  std::vector<Group> parts;
  if (states_[value].at == ValueState::At::kLiteral) {
    const int to = buffer_for(value);
    parts.push_back(fill_part(value, states_[value].literal, to));
    set_memory(value, to);
  } else {
    const int from = root_buffer(value);
    const StridedView view = view_of(value);
    const int to = buffer_for(value);
    const Walk dense{0, kernels::dense_view(value, p).strides};
    parts.push_back(copy_part(p.local(), p.dtype, from, {view.offset, view.strides}, to, dense));
    set_memory(value, to);
  }
  emit_parts(parts, plan_);
  return states_[value].buffer;
}

}  // namespace hostir::cuda
