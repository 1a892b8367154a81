#include "kernels/cpu/plan/planner.h"

#include <fmt/core.h>

#include "hostir/ops/record.h"
#include "kernels/common/views.h"
#include "kernels/cpu/plan/concat_step.h"
#include "kernels/cpu/plan/plan_contraction.h"
#include "kernels/cpu/plan/plan_fold.h"
#include "kernels/cpu/reference/reference_step.h"
#include "kernels/cpu/tile/strand_join.h"
#include "kernels/cpu/tile/tile_emit.h"
#include "kernels/cpu/tile/tile_step.h"

namespace hostir::cpu {
namespace {

using kernels::dense_view;
using kernels::kernel_body;
using kernels::returned_values;

/// Ops on one box that are computed together.
struct Group {
  explicit Group(const BoundKernel& kernel, const TileOps& ops, const Box& box)
      : builder(kernel, ops, box) {}
  TileBuilder builder;
  std::vector<const Instruction*> members;
  std::vector<uint32_t> values;                  // defined in the group
  std::unique_ptr<ContractionPlan> contraction;  // the group is its epilogue
  bool open = true;
};

class Planner {
 public:
  Planner(const BoundKernel& kernel, std::vector<const Instruction*> body)
      : kernel_(kernel),
        body_(std::move(body)),
        ops_(tile_ops(detected_isa())),
        group_of_(kernel.values.size(), -1),
        views_(kernel.values.size()),
        in_memory_(kernel.values.size(), false),
        readers_(kernel.values.size()),
        returned_(kernel.values.size(), false) {
    plan_.first_step.assign(kernel.values.size(), -1);
    plan_.last_step.assign(kernel.values.size(), -1);
  }

  Plan run() {
    for (const Parameter& parameter : kernel_.function->params) {
      in_memory_[parameter.value.index] = true;
    }
    for (const Instruction* instruction : body_) {
      for (const Operand& operand : instruction->operands) {
        readers_[operand.value.index].push_back(instruction);
      }
    }
    for (const Operand& result : returned_values(*kernel_.function)) {
      returned_[result.value.index] = true;
    }
    for (const Instruction* instruction : body_) add(*instruction);
    for (const Operand& result : returned_values(*kernel_.function)) {
      materialise(result.value.index);
    }
    plan_.is_single_group = plan_.steps.size() == 1 && single_store_;
    return std::move(plan_);
  }

 private:
  const Placement& placement(uint32_t value) const { return kernel_.values[value]; }

  void add(const Instruction& instruction) {
    if (add_view(instruction) || add_pointwise(instruction) || add_fold(instruction) ||
        add_product(instruction)) {
      return;
    }
    add_reference(instruction);
  }

  bool is_packed(const Instruction& instruction) const {
    bool packed = false;
    for (const Operand& o : instruction.operands)
      packed |= !placement(o.value.index).blocks.empty();
    for (const ValueId r : instruction.results) packed |= !placement(r.index).blocks.empty();
    return packed;
  }

  // 1. Views.

  bool add_view(const Instruction& instruction) {
    const OpShape shape = record(instruction.kind).shape;
    if (shape != OpShape::kBroadcast && shape != OpShape::kLayout) return false;
    if (instruction.operands.size() != 1 || is_packed(instruction)) return false;
    const uint32_t operand = instruction.operands[0].value.index;
    if (group_of_[operand] >= 0) close(group_of_[operand]);
    StridedView source = view_of(operand);
    auto view = moved_view(kernel_, instruction, source, placement(source.value).box.volume());
    if (!view && !in_memory_[operand]) {  // a view may fail on another view but work on memory
      materialise(operand);
      source = view_of(operand);
      view = moved_view(kernel_, instruction, source, placement(source.value).box.volume());
    }
    if (!view) return false;
    views_[instruction.results[0].index] = std::move(view);
    return true;
  }

  /// The view of a value that is in memory, or is a view of one that is.
  StridedView view_of(uint32_t value) const {
    if (in_memory_[value] || !views_[value]) return dense_view(value, placement(value));
    return *views_[value];
  }

  // 2. Groups.

  size_t group_for(const Box& box) {
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g]->open && groups_[g]->builder.box() == box) return g;
    }
    groups_.push_back(std::make_unique<Group>(kernel_, ops_, box));
    return groups_.size() - 1;
  }

  /// Closes the value's group, unless the value is a register of the open group of this box.
  void settle(uint32_t value, const Box& box) {
    const int from = group_of_[value];
    if (from < 0) return;
    const TileBuilder& builder = groups_[static_cast<size_t>(from)]->builder;
    if (builder.box() != box || builder.find(value) < 0) close(from);
  }

  /// Makes the operand readable by the group; false if its elements are not on this rank.
  bool bring(uint32_t value, size_t group) {
    TileBuilder& builder = groups_[group]->builder;
    if (builder.find(value) >= 0) return true;
    const auto view = sub_view(view_of(value), placement(value).box, builder.box());
    if (!view || !placement(value).blocks.empty()) return false;
    builder.load(value, *view);
    return true;
  }

  bool can_bring(uint32_t value, const Box& box) const {
    return placement(value).blocks.empty() && placement(value).box.lo.size() == box.lo.size() &&
           placement(value).box.contains(box);
  }

  bool add_pointwise(const Instruction& instruction) {
    if (!has_tile_loops(instruction.kind) || is_packed(instruction)) return false;
    const Box& box = placement(instruction.results[0].index).box;
    for (const Operand& operand : instruction.operands) {
      if (!can_bring(operand.value.index, box)) return false;
    }
    // Before choosing the group: this may close the group that would have been chosen.
    for (const Operand& operand : instruction.operands) settle(operand.value.index, box);
    const size_t g = group_for(box);
    for (const Operand& operand : instruction.operands) {
      if (!bring(operand.value.index, g)) return false;
    }
    if (!groups_[g]->builder.emit(instruction)) return false;
    join(instruction, g);
    return true;
  }

  void join(const Instruction& instruction, size_t g) {
    groups_[g]->members.push_back(&instruction);
    groups_[g]->values.push_back(instruction.results[0].index);
    group_of_[instruction.results[0].index] = static_cast<int>(g);
  }

  bool add_fold(const Instruction& instruction) {
    std::optional<TileFold> fold = plan_fold(kernel_, instruction);
    if (!fold || is_packed(instruction)) return false;
    const uint32_t operand = instruction.operands[0].value.index;
    const Box& box = placement(operand).box;
    const int from = group_of_[operand];
    if (from >= 0 && groups_[static_cast<size_t>(from)]->contraction) close(from);
    settle(operand, box);
    size_t g = group_for(box);
    if (groups_[g]->contraction) {  // product pieces cut the columns that a fold would join
      close(static_cast<int>(g));
      g = group_for(box);
    }
    if (!bring(operand, g)) return false;
    fold->reg = groups_[g]->builder.find(operand);
    groups_[g]->builder.program().folds.push_back(std::move(*fold));
    groups_[g]->members.push_back(&instruction);
    group_of_[instruction.results[0].index] = static_cast<int>(g);
    return true;
  }

  bool add_product(const Instruction& instruction) {
    if (!is_product(kernel_, instruction) || is_packed(instruction)) return false;
    const uint32_t result = instruction.results[0].index;
    for (const Operand& operand : instruction.operands) {
      if (group_of_[operand.value.index] >= 0) close(group_of_[operand.value.index]);
    }
    const ViewOf view = [this](uint32_t value) { return view_of(value); };
    auto plan = plan_contraction(kernel_, instruction, view);
    if (!plan) return false;
    const Box& box = placement(result).box;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g]->open && groups_[g]->builder.box() == box) close(static_cast<int>(g));
    }
    const size_t g = group_for(box);
    TileBuilder& builder = groups_[g]->builder;
    builder.load_product(result, plan_bias(kernel_, instruction, view));
    groups_[g]->contraction = std::move(plan);
    join(instruction, g);
    return true;
  }

  // 3. Closing.

  bool is_needed_outside(uint32_t value, const Group& group) const {
    if (returned_[value]) return true;
    for (const Instruction* reader : readers_[value]) {
      bool inside = false;
      for (const Instruction* member : group.members) inside |= member == reader;
      if (!inside) return true;
    }
    return false;
  }

  void close(int index) {
    Group& group = *groups_[static_cast<size_t>(index)];
    if (!group.open) return;
    group.open = false;
    TileProgram& program = group.builder.program();
    std::string text;
    for (const Instruction* member : group.members) {
      text += fmt::format("{}{}", text.empty() ? "" : "+", record(member->kind).mnemonic);
    }
    for (const uint32_t value : group.values) {
      group_of_[value] = -1;
      if (!is_needed_outside(value, group)) continue;
      program.stores.push_back(
          {group.builder.find(value), placement(value).dtype, dense_view(value, placement(value))});
      in_memory_[value] = true;
    }
    for (const TileFold& fold : program.folds) {
      group_of_[fold.view.value] = -1;
      in_memory_[fold.view.value] = true;
    }
    if (program.stores.empty() && program.folds.empty()) return;
    emit(group, std::move(text));
  }

  void emit(Group& group, std::string text) {
    TileProgram program = group.builder.program();
    join_strands(program, ops_);
    for (const TileLoad& load : program.loads) {
      const bool is_head = group.contraction && load.view.value == group.contraction->result;
      if (!is_head) touch(load.view.value);
    }
    for (const TileStore& store : program.stores) touch(store.view.value);
    for (const TileFold& fold : program.folds) touch(fold.view.value);
    single_store_ = program.stores.size() == 1 && program.folds.empty() && !group.contraction &&
                    all_loads_are_dense(program);
    if (!group.contraction) {
      plan_.steps.push_back(make_tile_step(program, ops_, std::move(text)));
      return;
    }
    ContractionPlan& plan = *group.contraction;
    touch(plan.a.view.value);
    touch(plan.b.view.value);
    plan.epilogue = program;
    plan.description = std::move(text);
    plan_.steps.push_back(make_contraction_step(plan, ops_));
  }

  bool all_loads_are_dense(const TileProgram& program) const {
    bool dense = true;
    for (const TileLoad& load : program.loads) {
      if (load.kind == TileLoad::Kind::kIndex) continue;
      dense &= load.view.offset == 0 && is_dense(load.view, program.extents) &&
               placement(load.view.value).local() == program.extents;
    }
    return dense;
  }

  void touch(uint32_t value) {
    if (value == UINT32_MAX) return;
    const int step = static_cast<int>(plan_.steps.size());
    if (plan_.first_step[value] < 0) plan_.first_step[value] = step;
    plan_.last_step[value] = std::max(plan_.last_step[value], step + 1);
  }

  /// Stores a value in its own memory.
  void materialise(uint32_t value) {
    if (group_of_[value] >= 0) close(group_of_[value]);
    if (in_memory_[value] || !views_[value]) return;
    Group group(kernel_, ops_, placement(value).box);
    const int reg = group.builder.load(value, *views_[value]);
    group.builder.program().stores.push_back(
        {reg, placement(value).dtype, dense_view(value, placement(value))});
    in_memory_[value] = true;
    emit(group, "copy");
  }

  // 4. Everything else.

  void add_reference(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) materialise(operand.value.index);
    for (const Operand& operand : instruction.operands) touch(operand.value.index);
    for (const ValueId result : instruction.results) {
      touch(result.index);
      in_memory_[result.index] = true;
    }
    std::unique_ptr<Step> step;
    if (instruction.kind == OpKind::concat) step = make_concat_step(kernel_, instruction);
    if (!step) step = make_reference_step(kernel_, instruction);
    plan_.steps.push_back(std::move(step));
  }

  const BoundKernel& kernel_;
  std::vector<const Instruction*> body_;
  const TileOps& ops_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<int> group_of_;  // by value: the open group that computes it, or -1
  std::vector<std::optional<StridedView>> views_;
  std::vector<bool> in_memory_;
  std::vector<std::vector<const Instruction*>> readers_;
  std::vector<bool> returned_;
  bool single_store_ = false;
  Plan plan_;
};

}  // namespace

Expected<Plan> plan_fast(const BoundKernel& kernel) {
  HOSTIR_ASSIGN_OR_RETURN(std::vector<const Instruction*> body, kernel_body(kernel));
  return Planner(kernel, std::move(body)).run();
}

}  // namespace hostir::cpu
