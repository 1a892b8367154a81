#include "hostir/passes/overlap/chunk_kernel.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

class RowFinder {
 public:
  RowFinder(const Program& program, const Function& kernel) : program_(program), kernel_(kernel) {
    rows_.dims.resize(kernel.values.size());
  }

  KernelRows find(ValueId start, size_t dim) {
    start_ = start;
    dim_ = dim;
    rows_.dims[start.index] = dim;
    for (changed_ = true; changed_ && rows_.problem.empty();) {
      changed_ = false;
      for (const InstrId id : body_of(kernel_)) {
        if (!is_terminator(kernel_.instr(id)) && rows_.problem.empty()) visit(kernel_.instr(id));
      }
    }
    for (const Operand& o : kernel_.instr(body_of(kernel_).back()).operands) {
      if (!rows_.dims[o.value.index])
        refuse(fmt::format("%{} does not have these rows", name(o.value)));
    }
    return std::move(rows_);
  }

 private:
  const std::string& name(ValueId v) const { return kernel_.value(v).name; }

  void refuse(std::string problem) {
    if (rows_.problem.empty()) rows_.problem = std::move(problem);
  }

  // Calls `f(value, its factors)` for every operand and result.
  template <class F>
  static void for_each_tensor(const Instruction& i, const ShardingRule& rule, F&& f) {
    size_t n = 0;
    for (const Operand& o : i.operands) {
      if (o.value.valid() && n < rule.operands.size()) f(o.value, rule.operands[n++]);
    }
    for (size_t r = 0; r < i.results.size() && r < rule.results.size(); ++r) {
      f(i.results[r], rule.results[r]);
    }
  }

  void visit(const Instruction& i) {
    const auto has_rows = [&](ValueId v) { return v.valid() && rows_.dims[v.index].has_value(); };
    const bool touched = std::any_of(i.operands.begin(), i.operands.end(),
                                     [&](const Operand& o) { return has_rows(o.value); }) ||
                         std::any_of(i.results.begin(), i.results.end(), has_rows);
    if (!touched) return;
    const std::string op(record(i.kind).mnemonic);
    if (record(i.kind).shape == OpShape::kSource && i.kind != OpKind::constant) {
      return refuse(fmt::format("{} numbers them", op));
    }
    if (!record(i.kind).rule) return refuse(fmt::format("{} moves them", op));
    const auto rule = rule_of(program_, kernel_, i);
    if (!rule) return refuse(fmt::format("{} has no sharding rule here", op));
    int factor = -1;
    bool several = false;
    for_each_tensor(i, *rule, [&](ValueId v, const ShardingRule::TensorFactors& factors) {
      if (!has_rows(v)) return;
      const ShardingRule::DimFactors& mine = factors[*rows_.dims[v.index]];
      several = several || mine.size() != 1 || (factor >= 0 && factor != mine.front());
      if (!mine.empty()) factor = mine.front();
    });
    const auto in = [&](const std::vector<int>& list) { return contains(list, factor); };
    if (several) return refuse(fmt::format("{} merges or splits the rows", op));
    if (in(rule->reduction)) return refuse(fmt::format("{} adds up the rows", op));
    if (in(rule->permutation) || rule->must_replicate(factor)) {
      return refuse(fmt::format("{} mixes them", op));
    }
    for_each_tensor(i, *rule, [&](ValueId v, const ShardingRule::TensorFactors& factors) {
      for (size_t d = 0; d < factors.size(); ++d) {
        const auto& mine = factors[d];
        if (!contains(mine, factor)) continue;
        if (mine.size() != 1) return refuse(fmt::format("{} merges or splits the rows", op));
        mark(v, d);
      }
    });
  }

  void mark(ValueId v, size_t d) {
    std::optional<size_t>& known = rows_.dims[v.index];
    if (known == d) return;
    if (known) return refuse(fmt::format("%{} has the rows in two dimensions", name(v)));
    const Type& type = kernel_.value(v).type;
    const Type& first = kernel_.value(start_).type;
    const Sharding* sharding = sharding_of(type);
    const Sharding* wanted = sharding_of(first);
    if (shape_of(type)[d] != shape_of(first)[dim_] || sharding == nullptr || wanted == nullptr ||
        sharding->dims[d].axes != wanted->dims[dim_].axes ||
        !sharding->dims[d].cuts_alike(wanted->dims[dim_])) {
      return refuse(fmt::format("the rows of %{} are cut in another way", name(v)));
    }
    known = d;
    changed_ = true;
  }

  const Program& program_;
  const Function& kernel_;
  KernelRows rows_;
  ValueId start_;
  size_t dim_ = 0;
  bool changed_ = false;
};

}  // namespace

KernelRows rows_of_kernel(const Program& program, const Function& kernel, ValueId start,
                          size_t dim) {
  return RowFinder(program, kernel).find(start, dim);
}

namespace {

// True if the ops infer the types that the values have.
bool is_consistent(const Program& program, const Function& kernel) {
  for (const InstrId id : body_of(kernel)) {
    const Instruction& i = kernel.instr(id);
    if (is_terminator(i)) continue;
    const auto types = check_and_infer(program, kernel, i);
    if (!types || types->size() < i.results.size()) return false;
    for (size_t r = 0; r < i.results.size(); ++r) {
      if (shape_of((*types)[r]) != shape_of(kernel.value(i.results[r]).type)) return false;
    }
  }
  return true;
}

// Gives the results of a kernel the types of the values that it returns.
void update_results(Function& kernel) {
  const Instruction& ret = kernel.instr(body_of(kernel).back());
  for (size_t r = 0; r < kernel.results.size(); ++r) {
    kernel.results[r].type = kernel.value(ret.operands[r].value).type;
  }
}

}  // namespace

std::optional<Function> chunk_kernel(const Program& program, const Function& kernel,
                                     const KernelRows& rows, int64_t count) {
  Function out = kernel;
  for (size_t v = 0; v < out.values.size(); ++v) {
    if (rows.dims[v]) std::get<TensorType>(out.values[v].type).shape[*rows.dims[v]] = count;
  }
  update_results(out);
  return is_consistent(program, out) ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<TensorType> local_type(const Program& program, const Type& type) {
  TensorType out{dtype_of(type), shape_of(type), std::nullopt};
  const Sharding* sharding = sharding_of(type);
  const auto extents = constant_extents(out.shape);
  const Mesh* mesh = sharding != nullptr ? program.find_mesh(sharding->mesh) : nullptr;
  if (mesh == nullptr || !extents) return std::nullopt;
  const std::vector<Box> boxes = shard_boxes(*mesh, *sharding, *extents);
  const Extents local = boxes.front().extents();
  for (const Box& box : boxes) {
    if (box.extents() != local) return std::nullopt;
  }
  out.shape.assign(local.begin(), local.end());
  return out;
}

std::optional<Function> local_chunk_kernel(const Program& program, const Function& kernel,
                                           const KernelRows& rows, int64_t count) {
  Function out = kernel;
  for (size_t v = 0; v < out.values.size(); ++v) {
    Type type = out.values[v].type;
    // The rows may differ between ranks, the other dimensions may not.
    if (rows.dims[v]) std::get<TensorType>(type).sharding->dims[*rows.dims[v]].axes.clear();
    auto local = local_type(program, type);
    if (!local) return std::nullopt;
    if (rows.dims[v]) local->shape[*rows.dims[v]] = count;
    out.values[v].type = std::move(*local);
  }
  update_results(out);
  return is_consistent(program, out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace hostir
