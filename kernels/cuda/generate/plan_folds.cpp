// Plans reductions as folds of a group.
#include <algorithm>
#include <limits>

#include "kernels/common/elements.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {
namespace {

/// The part of the operand that is reduced into the result's box.
Placement folded_part(const Placement& in, const Placement& out, const std::vector<bool>& folded) {
  Placement part = in;
  part.blocks.clear();
  const bool keeps_dims = out.global.size() == in.global.size();
  size_t next = 0;
  for (size_t d = 0; d < folded.size(); ++d) {
    if (folded[d]) continue;
    const size_t r = keeps_dims ? d : next++;
    part.box.lo[d] = out.box.lo[r];
    part.box.hi[d] = out.box.hi[r];
  }
  return part;
}

/// Chooses between one pass with blocks that hold whole rows, and two stages through memory.
bool is_split(const Extents& extents, const std::vector<bool>& folded) {
  constexpr int64_t kMostColumns = 16384;
  constexpr int64_t kManyRows = 264;  // two per multiprocessor of a large device
  int64_t rows = 1;
  int64_t columns = 1;
  bool is_inner = true;  // the innermost dimension is folded
  for (size_t d = 0; d < extents.size(); ++d) {
    (folded[d] ? columns : rows) *= extents[d];
    if (extents[d] > 1) is_inner = folded[d];
  }
  return !is_inner || (columns > kMostColumns && rows < kManyRows);
}

std::string identity_of(OpKind kind, DType dtype) {
  return is_float(dtype) ? literal(dtype, kernels::real_identity(fold_of(kind), dtype))
                         : literal(dtype, kernels::int_identity(fold_of(kind), dtype));
}

}  // namespace

Expected<void> Planner::add_fold(const Instruction& instruction) {
  const uint32_t operand = instruction.operands[0].value.index;
  const uint32_t result = instruction.results[0].index;
  const Placement& in = placement(operand);
  const bool averages = is_mean(instruction.kind);
  const std::vector<bool> folded = kernels::folded_dims(instruction, in.global.size());
  int64_t divisor = 1;
  for (size_t d = 0; d < folded.size(); ++d) divisor *= folded[d] ? in.global[d] : 1;
  const Placement part = folded_part(in, placement(result), folded);
  if (part.box.empty()) {
    const bool is_nan = averages && divisor == 0;
    set_literal(result, is_nan ? literal(in.dtype, std::numeric_limits<double>::quiet_NaN())
                               : identity_of(instruction.kind, in.dtype));
    return {};
  }
  std::optional<Walk> walk;
  if (states_[operand].at != ValueState::At::kLiteral) {
    walk = walk_over(operand, part.box);
    if (!walk) return unsupported(instruction, "this rank does not hold all elements it folds");
  }
  const bool split = is_split(part.local(), folded);
  const auto takes_folds = [&](const Group& group) {
    return !group.has_folds() || (group.folded() == folded && group.is_split() == split);
  };
  int target = group_holding(operand);
  if (target >= 0) {
    const Group& group = *groups_[static_cast<size_t>(target)];
    const bool usable = group.space().box == part.box && group.space().global == part.global &&
                        takes_folds(group) && is_usable(operand, group, *walk) &&
                        !group.at(group.find(root_of(operand))).is_row;
    if (!usable) {
      close(target);
      target = -1;
    }
  }
  if (target < 0) {
    target = group_for(part);
    if (!takes_folds(*groups_[static_cast<size_t>(target)])) {
      groups_.push_back(std::make_unique<Group>(part));
      defined_.emplace_back();
      target = static_cast<int>(groups_.size()) - 1;
    }
  }
  Group& group = *groups_[static_cast<size_t>(target)];
  if (!group.has_folds()) group.set_folds(folded, split);
  Register reg;
  reg.from = Register::From::kFold;
  reg.dtype = in.dtype;
  reg.is_row = true;
  reg.op = &instruction;
  reg.out = &placement(result);
  reg.in = in.dtype;
  reg.name = name_of(result);
  reg.divisor = averages ? divisor : 1;
  reg.operands = {operand_register(group, operand, walk.value_or(Walk{}), false)};
  group.define(result, std::move(reg));
  group.members.push_back(&instruction);
  group.flops += flops_of(instruction);
  defined_[static_cast<size_t>(target)].push_back(result);
  states_[result] = {};
  states_[result].at = ValueState::At::kGroup;
  states_[result].group = target;
  return {};
}

}  // namespace hostir::cuda
