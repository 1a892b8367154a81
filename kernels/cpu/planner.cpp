#include "kernels/cpu/planner.h"

#include <fmt/core.h>

#include <array>
#include <map>

#include "hostir/ops/record.h"
#include "kernels/cpu/contraction_step.h"
#include "kernels/cpu/reference_executor.h"
#include "kernels/cpu/reference_reduce.h"
#include "kernels/cpu/reference_support.h"
#include "kernels/cpu/tile_emit.h"
#include "kernels/cpu/tile_step.h"
#include "kernels/cpu/views.h"

namespace hostir::cpu {
namespace {

struct Folder {
  OpKind kind;
  Fold fold;
  bool is_mean;
};
constexpr std::array<Folder, 5> kFolders = {{{OpKind::reduce_sum, Fold::kSum, false},
                                             {OpKind::reduce_mean, Fold::kSum, true},
                                             {OpKind::reduce_prod, Fold::kProd, false},
                                             {OpKind::reduce_min, Fold::kMin, false},
                                             {OpKind::reduce_max, Fold::kMax, false}}};

const Folder* find_folder(OpKind kind) {
  for (const Folder& folder : kFolders) {
    if (folder.kind == kind) return &folder;
  }
  return nullptr;
}

enum class RightLayout : uint8_t { kRowsAreK, kRowsAreN };
struct Product {
  OpKind kind;
  RightLayout layout;
};
constexpr std::array<Product, 2> kProducts = {
    {{OpKind::matmul, RightLayout::kRowsAreK}, {OpKind::linear, RightLayout::kRowsAreN}}};

const Product* find_product(OpKind kind) {
  for (const Product& product : kProducts) {
    if (product.kind == kind) return &product;
  }
  return nullptr;
}

/// Ops on one box that are computed together.
struct Group {
  explicit Group(const BoundKernel& kernel, const TileOps& ops, const Box& box)
      : builder(kernel, ops, box) {}
  TileBuilder builder;
  std::vector<const Instruction*> members;
  std::vector<uint32_t> values;                  // defined in the group
  std::unique_ptr<ContractionPlan> contraction;  // whose epilogue the group is
  bool open = true;
};

class ReferenceStep final : public Step {
 public:
  ReferenceStep(const BoundKernel& kernel, const Instruction& instruction)
      : kernel_(kernel), instruction_(instruction) {}
  void run(const RunContext& context) override {
    std::vector<ConstMemory> read(context.values.size());
    for (size_t v = 0; v < read.size(); ++v) {
      read[v] = {context.values[v].data, context.values[v].bytes};
    }
    run_reference(kernel_, instruction_, read, context.values);
  }
  std::string description() const override {
    return fmt::format("{} reference", record(instruction_.kind).mnemonic);
  }

 private:
  const BoundKernel& kernel_;
  const Instruction& instruction_;
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
    if (!view && !in_memory_[operand]) {  // a view of a view may fail where one of memory does not
      materialise(operand);
      source = view_of(operand);
      view = moved_view(kernel_, instruction, source, placement(source.value).box.volume());
    }
    if (!view) return false;
    views_[instruction.results[0].index] = std::move(view);
    return true;
  }

  /// How to reach a value that is in memory or a view of what is.
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

  /// Closes the value's group unless it is a register of the open group of this box.
  void settle(uint32_t value, const Box& box) {
    const int from = group_of_[value];
    if (from < 0) return;
    const TileBuilder& builder = groups_[static_cast<size_t>(from)]->builder;
    if (builder.box() != box || builder.find(value) < 0) close(from);
  }

  /// Makes the operand readable by the group; false if its elements are not here.
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
    // Before the group is chosen: what closes here may be the group that would have been.
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
    const Folder* folder = find_folder(instruction.kind);
    if (folder == nullptr || is_packed(instruction)) return false;
    const uint32_t operand = instruction.operands[0].value.index;
    const uint32_t result = instruction.results[0].index;
    if (placement(operand).dtype != placement(result).dtype) return false;
    if (folder->is_mean && !is_float(placement(result).dtype)) return false;
    const auto strides = fold_strides(instruction);
    if (!strides) return false;
    const int from = group_of_[operand];
    if (from >= 0 && groups_[static_cast<size_t>(from)]->contraction) close(from);
    settle(operand, placement(operand).box);
    size_t g = group_for(placement(operand).box);
    if (groups_[g]->contraction) {
      close(static_cast<int>(g));
      g = group_for(placement(operand).box);
    }
    if (!bring(operand, g)) return false;
    TileFold fold;
    fold.reg = groups_[g]->builder.find(operand);
    fold.fold = folder->fold;
    fold.dtype = placement(operand).dtype;
    fold.lane = lane_of(fold.dtype);
    fold.view = {result, 0, *strides};
    fold.elems = placement(result).box.volume();
    fold.divisor = folded_elems(instruction);
    fold.is_mean = folder->is_mean;
    groups_[g]->builder.program().folds.push_back(std::move(fold));
    groups_[g]->members.push_back(&instruction);
    group_of_[result] = static_cast<int>(g);
    return true;
  }

  std::vector<bool> folded_dims(const Instruction& instruction) const {
    std::vector<bool> folded(placement(instruction.operands[0].value.index).global.size(), false);
    if (const IntList* dims = instruction.attributes.get<IntList>("dims")) {
      for (const int64_t d : *dims) folded[static_cast<size_t>(d)] = true;
    }
    return folded;
  }

  int64_t folded_elems(const Instruction& instruction) const {
    const std::vector<bool> folded = folded_dims(instruction);
    int64_t elems = 1;
    for (size_t d = 0; d < folded.size(); ++d) {
      if (folded[d]) elems *= placement(instruction.operands[0].value.index).global[d];
    }
    return elems;
  }

  /// Accumulator strides by operand dimension; nullopt where the boxes do not correspond.
  std::optional<Extents> fold_strides(const Instruction& instruction) const {
    const Placement& in = placement(instruction.operands[0].value.index);
    const Placement& out = placement(instruction.results[0].index);
    const std::vector<bool> folded = folded_dims(instruction);
    const bool keeps_dims = out.global.size() == in.global.size();
    const Extents dense = strides_of(out.local());
    Extents strides(in.global.size(), 0);
    size_t next = 0;
    for (size_t d = 0; d < in.global.size(); ++d) {
      if (folded[d]) continue;
      const size_t r = keeps_dims ? d : next++;
      if (r >= out.box.lo.size() || out.box.lo[r] != in.box.lo[d] ||
          out.box.hi[r] != in.box.hi[d]) {
        return std::nullopt;
      }
      strides[d] = dense[r];
    }
    return strides;
  }

  // Products.

  bool add_product(const Instruction& instruction) {
    const Product* product = find_product(instruction.kind);
    const uint32_t result = instruction.results[0].index;
    if (product == nullptr || is_packed(instruction) || !is_float(placement(result).dtype)) {
      return false;
    }
    for (const Operand& operand : instruction.operands) {
      if (group_of_[operand.value.index] >= 0) close(group_of_[operand.value.index]);
    }
    auto plan = contraction_plan(instruction, product->layout);
    if (!plan) return false;
    const Box& box = placement(result).box;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g]->open && groups_[g]->builder.box() == box) close(static_cast<int>(g));
    }
    const size_t g = group_for(box);
    TileBuilder& builder = groups_[g]->builder;
    builder.load_product(result, bias_view(instruction));
    groups_[g]->contraction = std::move(plan);
    join(instruction, g);
    return true;
  }

  /// The bias of a linear, broadcast over the rows.
  std::optional<StridedView> bias_view(const Instruction& instruction) const {
    if (instruction.operands.size() < 3) return std::nullopt;
    const uint32_t bias = instruction.operands[2].value.index;
    const Box& box = placement(instruction.results[0].index).box;
    StridedView view = view_of(bias);
    view.offset += (box.lo.back() - placement(bias).box.lo[0]) * view.strides[0];
    view.strides.insert(view.strides.begin(), box.lo.size() - 1, 0);
    return view;
  }

  std::unique_ptr<ContractionPlan> contraction_plan(const Instruction& instruction,
                                                    RightLayout layout) const {
    const uint32_t left = instruction.operands[0].value.index;
    const uint32_t right = instruction.operands[1].value.index;
    const uint32_t result = instruction.results[0].index;
    const Placement& a = placement(left);
    const Placement& b = placement(right);
    const Placement& out = placement(result);
    if (a.dtype != out.dtype || b.dtype != out.dtype) return nullptr;
    auto plan = std::make_unique<ContractionPlan>();
    plan->a = {view_of(left), a.dtype};
    plan->b = {view_of(right), b.dtype};
    plan->result = result;
    // Boxes must correspond dimension by dimension; anything else goes through the plain loops.
    const size_t b_rank = b.global.size();
    const size_t k_dim = layout == RightLayout::kRowsAreK ? b_rank - 2 : b_rank - 1;
    const size_t n_dim = layout == RightLayout::kRowsAreK ? b_rank - 1 : b_rank - 2;
    const auto same = [](const Placement& p, size_t d, const Placement& q, size_t e) {
      return p.box.lo[d] == q.box.lo[e] && p.box.hi[d] == q.box.hi[e];
    };
    const size_t rank = out.global.size();
    bool fits = same(a, rank - 1, b, k_dim) && same(out, rank - 1, b, n_dim);
    for (size_t d = 0; d + 1 < rank; ++d) fits = fits && same(out, d, a, d);
    for (size_t d = 0; b_rank > 2 && d + 2 < rank; ++d) fits = fits && same(out, d, b, d);
    if (instruction.operands.size() > 2) {
      const Box& bias = placement(instruction.operands[2].value.index).box;
      fits = fits && bias.lo[0] <= out.box.lo.back() && bias.hi[0] >= out.box.hi.back();
    }
    if (!fits) return nullptr;
    if (layout == RightLayout::kRowsAreN)
      std::swap(plan->b.view.strides[0], plan->b.view.strides[1]);
    Extents& b_strides = plan->b.view.strides;
    if (rank > 2 && b_rank == 2) b_strides.insert(b_strides.begin(), rank - 2, 0);
    if (rank == 1) plan->a.view.strides.insert(plan->a.view.strides.begin(), 0);
    const Extents local = out.local();
    plan->n = local.back();
    plan->m = rank == 1 ? 1 : local[rank - 2];
    plan->k = a.local().back();
    if (rank > 2) plan->batch.assign(local.begin(), local.end() - 2);
    return plan;
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
    const TileProgram program = group.builder.program();
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
    if (program.extents.size() == 1) add_unit_dimension(plan.epilogue);
    plan.description = std::move(text);
    auto step = make_contraction_step(plan, ops_);
    if (step != nullptr) {
      plan_.steps.push_back(std::move(step));
      return;
    }
    emit_by_reference(group, program);
  }

  /// oneDNN refused: the product through the plain loops, the epilogue from memory.
  void emit_by_reference(Group& group, const TileProgram& program) {
    const uint32_t result = group.contraction->result;
    touch(result);
    plan_.steps.push_back(std::make_unique<ReferenceStep>(kernel_, *group.members[0]));
    TileProgram epilogue = program;
    for (TileLoad& load : epilogue.loads) {
      if (load.view.value == result) load.dtype = placement(result).dtype;
    }
    std::erase_if(epilogue.stores,
                  [&](const TileStore& store) { return store.view.value == result; });
    if (!epilogue.stores.empty()) {
      plan_.steps.push_back(make_tile_step(std::move(epilogue), ops_, "epilogue"));
    }
  }

  static void add_unit_dimension(TileProgram& program) {
    program.extents.insert(program.extents.begin(), 1);
    for (TileLoad& load : program.loads) load.view.strides.insert(load.view.strides.begin(), 0);
    for (TileStore& store : program.stores) {
      store.view.strides.insert(store.view.strides.begin(), program.extents.back());
    }
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

  /// Puts a value into memory of its own.
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

  // 4. The rest.

  void add_reference(const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) materialise(operand.value.index);
    for (const Operand& operand : instruction.operands) touch(operand.value.index);
    for (const ValueId result : instruction.results) {
      touch(result.index);
      in_memory_[result.index] = true;
    }
    plan_.steps.push_back(std::make_unique<ReferenceStep>(kernel_, instruction));
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
  HOSTIR_ASSIGN_OR_RETURN(std::vector<const Instruction*> body, kernel_body(*kernel.function));
  return Planner(kernel, std::move(body)).run();
}

}  // namespace hostir::cpu
