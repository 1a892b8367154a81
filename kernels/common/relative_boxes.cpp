#include "kernels/common/relative_boxes.h"

#include <algorithm>

#include "kernels/common/kernel_boxes.h"

namespace hostir::kernels {

Expected<std::optional<RelativeBoxes>> RelativeBoxes::of(const Program& program,
                                                         const BoundKernel& bound) {
  HOSTIR_ASSIGN_OR_RETURN(auto groups, dims_cut_together(program, *bound.function, bound.values));
  if (!groups) return std::optional<RelativeBoxes>{};
  RelativeBoxes out;
  out.kernel_ = bound.function;
  out.groups_ = std::move(*groups);
  for (const std::vector<int>& dims : out.groups_) {
    for (const int group : dims) out.group_count_ = std::max(out.group_count_, group + 1);
  }
  for (const Parameter& p : bound.function->params) out.operands_.push_back(p.value.index);
  for (const Operand& o : returned_values(*bound.function)) {
    out.operands_.push_back(o.value.index);
  }
  for (const Placement& value : bound.values) out.globals_.push_back(value.global);
  return std::optional<RelativeBoxes>{std::move(out)};
}

std::optional<std::vector<int64_t>> RelativeBoxes::describe(
    const Program& program, int32_t rank, std::span<const Placement* const> parameters,
    std::span<const Placement* const> results) const {
  std::vector<int64_t> out;
  std::vector<std::optional<int64_t>> origins(static_cast<size_t>(group_count_));
  const auto add = [&](uint32_t value, const Box& box) {
    for (size_t d = 0; d < box.lo.size(); ++d) {
      const int64_t extent = std::max<int64_t>(0, box.hi[d] - box.lo[d]);
      const int group = groups_[value][d];
      int64_t at = box.lo[d];
      if (group >= 0) {
        auto& origin = origins[static_cast<size_t>(group)];
        if (extent > 0 && !origin) origin = at;
        at = extent > 0 ? at - *origin : 0;
      }
      out.push_back(at);
      out.push_back(extent);
    }
  };
  if (parameters.size() + results.size() != operands_.size()) return std::nullopt;
  std::vector<bool> is_operand(globals_.size(), false);
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Placement& p = i < parameters.size() ? *parameters[i] : *results[i - parameters.size()];
    if (!p.blocks.empty() || p.global != globals_[operands_[i]]) return std::nullopt;
    is_operand[operands_[i]] = true;
    add(operands_[i], p.box);
  }
  // The compiler's layouts of the intermediate values.
  for (uint32_t v = 0; v < globals_.size(); ++v) {
    const Sharding* sharding = is_operand[v] ? nullptr : sharding_of(kernel_->values[v].type);
    if (sharding == nullptr || sharding->dims.size() != globals_[v].size()) continue;
    const Mesh* mesh = program.find_mesh(sharding->mesh);
    const auto position = mesh == nullptr ? std::nullopt : mesh->position_of(rank);
    out.push_back(position ? 1 : 0);
    if (position) add(v, shard_box(*mesh, *sharding, globals_[v], *position));
  }
  return out;
}

}  // namespace hostir::kernels
