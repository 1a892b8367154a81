// Groups: which ops join, and when a group closes.
#include <algorithm>

#include "hostir/support/lists.h"
#include "kernels/common/elements.h"
#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

// A value is needed outside if it is returned or read by something outside the group. For an op
// that only moves it and is still a view, the readers of the view count.
bool Planner::is_needed_outside(uint32_t value, const Group& group) const {
  if (readers_.is_returned(value)) return true;
  for (const Instruction* reader : readers_.of(value)) {
    const uint32_t result = reader->results[0].index;
    if (states_[result].at == ValueState::At::kView) {
      if (is_needed_outside(result, group)) return true;
    } else if (!contains(group.members, reader) && !inlined_.contains({reader, &group})) {
      return true;
    }
  }
  return false;
}

void Planner::close(int index) {
  Group& group = *groups_[static_cast<size_t>(index)];
  if (!group.is_open) return;
  group.is_open = false;
  for (const uint32_t value : defined_[static_cast<size_t>(index)]) {
    const int reg = group.find(value);
    const bool needed = is_needed_outside(value, group);
    states_[value] = {};
    if (!needed) continue;
    const int buffer = buffer_for(value);
    group.store(reg, buffer, group.at(reg).is_row ? group.row_walk() : group.full_walk());
    set_memory(value, buffer);
  }
  if (!group.stores().empty()) emit_group(group, plan_);
}

int Planner::group_for(const Placement& space) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g]->is_open && groups_[g]->space().box == space.box &&
        groups_[g]->space().global == space.global) {
      return static_cast<int>(g);
    }
  }
  groups_.push_back(std::make_unique<Group>(space));
  defined_.emplace_back();
  return static_cast<int>(groups_.size()) - 1;
}

// True if the operand, with this walk over the group's space, is one of its registers.
bool Planner::is_usable(uint32_t operand, const Group& group, const Walk& walk) const {
  const int reg = group.find(root_of(operand));
  if (reg < 0) return false;
  if (!group.at(reg).is_row) return group.normalised(walk) == group.full_walk();
  return !group.is_split() && group.normalised(walk) == group.row_walk();
}

// Closes the groups that hold operands in a form that the instruction's group cannot use. Returns
// the group to join, or -1 if any group of the box will do.
int Planner::settle(const Instruction& instruction) {
  const Placement& out = placement(instruction.results[0]);
  int target = -1;
  for (const Operand& operand : instruction.operands) {
    const int holder = group_holding(operand.value.index);
    if (holder < 0) continue;
    const Group& group = *groups_[static_cast<size_t>(holder)];
    const auto walk = walk_over(operand.value.index, out.box);
    const bool usable = group.space().box == out.box && group.space().global == out.global &&
                        walk && is_usable(operand.value.index, group, *walk);
    if (usable && (target < 0 || target == holder)) {
      target = holder;
      continue;
    }
    if (!usable && holder != target && can_inline(operand.value.index, out.box)) continue;
    close(holder);
    if (holder == target) target = -1;
  }
  return target;
}

Walk Planner::lifted(const Group& group, const Extents& extents, const Walk& walk,
                     bool is_row) const {
  return is_row ? *group.lift(extents, walk) : walk;
}

int Planner::operand_register(Group& group, uint32_t operand, const Walk& walk, bool is_row) {
  if (states_[operand].at == ValueState::At::kLiteral) {
    return group.literal(placement(operand).dtype, states_[operand].literal);
  }
  const uint32_t root = root_of(operand);
  if (states_[root].at == ValueState::At::kGroup) {
    const Group& holder = *groups_[static_cast<size_t>(states_[root].group)];
    return &holder == &group ? group.find(root) : inlined(group, holder, holder.find(root), walk);
  }
  const int reg = group.load(states_[root].buffer, placement(operand).dtype, walk, is_row);
  if (group.at(reg).name.empty()) group.at(reg).name = name_of(operand);
  return reg;
}

void Planner::define(Group& group, const Instruction& instruction, bool is_row) {
  const uint32_t result = instruction.results[0].index;
  const Placement& out = placement(result);
  const Extents extents = out.local();
  Register reg;
  reg.dtype = out.dtype;
  reg.is_row = is_row;
  reg.op = &instruction;
  reg.out = &out;
  reg.in = out.dtype;
  reg.name = name_of(result);
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const uint32_t operand = instruction.operands[i].value.index;
    if (i == 0) reg.in = placement(operand).dtype;
    Walk walk;
    if (states_[operand].at != ValueState::At::kLiteral) {
      walk = lifted(group, extents, *walk_over(operand, out.box), is_row);
    }
    const int holder = group_holding(operand);
    if (holder >= 0 && groups_[static_cast<size_t>(holder)].get() != &group) {
      inlined_.insert({&instruction, groups_[static_cast<size_t>(holder)].get()});
    }
    reg.operands.push_back(operand_register(group, operand, walk, is_row));
  }
  const CudaOp::Extra extra = cuda_op(instruction.kind).extra;
  if (extra != CudaOp::Extra::kNone) {
    Register position;
    position.is_row = is_row;
    position.op = &instruction;
    if (extra == CudaOp::Extra::kRandom) {
      position.from = Register::From::kRandom;
      position.walk = {kernels::global_linear_index(out.global, out.box.lo),
                       kernels::strides_of(out.global)};
    } else {
      const auto dim = static_cast<size_t>(instruction.attributes.get_or<int64_t>("dim", 0));
      position.from = Register::From::kIndex;
      position.dtype = DType::kI64;
      position.walk = {out.box.lo[dim], Extents(out.global.size(), 0)};
      position.walk.strides[dim] = 1;
    }
    position.walk = group.normalised(lifted(group, extents, position.walk, is_row));
    reg.operands.push_back(group.define(UINT32_MAX, std::move(position)));
  }
  group.define(result, std::move(reg));
  group.members.push_back(&instruction);
  group.flops += flops_of(instruction);
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].get() != &group) continue;
    defined_[g].push_back(result);
    states_[result] = {};
    states_[result].at = ValueState::At::kGroup;
    states_[result].group = static_cast<int>(g);
  }
}

bool Planner::fits_rows(const Instruction& instruction, int index) const {
  const Group& group = *groups_[static_cast<size_t>(index)];
  const Placement& out = placement(instruction.results[0]);
  if (!group.has_folds() || group.is_split()) return false;
  bool reads_row = false;
  for (const Operand& operand : instruction.operands) {
    const uint32_t value = operand.value.index;
    if (states_[value].at == ValueState::At::kLiteral) continue;
    const auto walk = walk_over(value, out.box);
    if (!walk) return false;
    const auto over_rows = group.lift(out.local(), *walk);
    if (!over_rows) return false;
    if (group_holding(value) != index) continue;
    const int reg = group.find(root_of(value));
    if (reg < 0 || !group.at(reg).is_row) return false;
    if (group.normalised(*over_rows) != group.row_walk()) return false;
    reads_row = true;
  }
  return reads_row;
}

// Joins a group as an op on its rows, such as the mean plus epsilon or the reciprocal of the root.
bool Planner::join_rows(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    const int index = group_holding(operand.value.index);
    if (index < 0 || !fits_rows(instruction, index)) continue;
    for (const Operand& other : instruction.operands) {
      const int holder = group_holding(other.value.index);
      if (holder >= 0 && holder != index) close(holder);
    }
    define(*groups_[static_cast<size_t>(index)], instruction, true);
    return true;
  }
  return false;
}

Expected<void> Planner::add_pointwise(const Instruction& instruction) {
  const Placement& out = placement(instruction.results[0]);
  for (const Operand& operand : instruction.operands) {
    if (states_[operand.value.index].at == ValueState::At::kLiteral) continue;
    if (!walk_over(operand.value.index, out.box)) {
      return unsupported(instruction, "this rank does not hold all elements that it reads");
    }
  }
  if (join_rows(instruction)) return {};
  int target = settle(instruction);
  if (target < 0) target = group_for(out);
  define(*groups_[static_cast<size_t>(target)], instruction, false);
  return {};
}

}  // namespace hostir::cuda
