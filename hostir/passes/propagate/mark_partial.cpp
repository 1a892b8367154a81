#include "hostir/passes/propagate/mark_partial.h"

#include <fmt/core.h>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/propagate/factors.h"

namespace hostir {

void mark_partial(const Program& program, Function& f, const std::vector<PropagationEdge>& edges,
                  const std::vector<bool>& annotated, Explanation& explanation) {
  uint32_t number = 0;
  for (const InstrId id : body_of(f)) {
    const Instruction& i = f.instr(id);
    const OpRecord& op = record(i.kind);
    if (is_terminator(i)) break;
    const PropagationEdge& edge = edges[number++];  // every op has one
    if (op.rule == nullptr || op.shape == OpShape::kPointwise) continue;
    const std::shared_ptr<const ShardingRule>& rule = edge.rule;
    if (rule->reduction.empty()) continue;
    const BoundCall bound(program, f, i);
    if (op.needs_expand != nullptr && op.needs_expand(bound.call)) continue;
    const Mesh& mesh = *program.find_mesh(tensor_type(f, i.results.front()).sharding->mesh);
    std::vector<FactorCuts> cuts;  // by operand
    for (const Operand& o : i.operands) {
      if (!o.value.valid()) continue;
      const Sharding& s = *tensor_type(f, o.value).sharding;
      cuts.push_back(project(mesh, *rule, rule->operands[cuts.size()], s.dims));
    }
    const std::string where = address(f, written_number(f, i, number));
    for (size_t result = 0; result < i.results.size(); ++result) {
      const ValueId r = i.results[result];
      if (annotated[r.index]) continue;
      AxisList axes;
      for (const FactorCuts& mine : cuts) {
        const AxisList reduced = reduced_axes(mesh, *rule, mine, result);
        axes = joined(mesh, axes, without(mesh, reduced, axes));
      }
      Sharding& s = *tensor_type(f, r).sharding;
      AxisList taken = dimension_axes(mesh, s);
      AxisList unreduced;
      for (const AxisRef& axis : without(mesh, axes, taken)) {
        if (!can_stand_together(mesh, {axis}, taken)) continue;
        taken.push_back(axis);
        unreduced.push_back(axis);
      }
      s.unreduced =
          canonical(mesh, Sharding{s.mesh, {}, unreduced, rule->reduction_kind, {}}).unreduced;
      if (s.unreduced.empty()) continue;
      s.unreduced_kind = rule->reduction_kind;
      explanation.push_back(
          {.value = f.value(r).name,
           .what = "unreduced " + axes_to_string(s.unreduced),
           .sentence = fmt::format("{} at {} reduces a dimension that is cut over "
                                   "these axes: each rank has a part of the {}",
                                   op.mnemonic, where, name(rule->reduction_kind)),
           .from = where,
           .pass = "propagate"});
    }
  }
}

}  // namespace hostir
