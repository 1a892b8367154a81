#include "hostir/passes/propagate/propagation_edges.h"

#include <algorithm>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/propagate/factors.h"
#include "hostir/passes/windows/shifted_view.h"

namespace hostir {

namespace {

std::shared_ptr<const ShardingRule> identity_rule(const Shape& shape) {
  ShardingRule rule;
  rule.factor_sizes.assign(shape.begin(), shape.end());
  ShardingRule::TensorFactors dims;
  for (size_t d = 0; d < shape.size(); ++d) dims.push_back({static_cast<int>(d)});
  rule.operands = {dims};
  rule.results = {dims};
  return std::make_shared<const ShardingRule>(std::move(rule));
}

class EdgeBuilder {
 public:
  EdgeBuilder(const Program& program, const Function& fusion)
      : program_(program), fusion_(fusion), uses_(uses_of(fusion)) {}

  Expected<std::vector<PropagationEdge>> edges() {
    uint32_t number = 0;
    for (const InstrId id : body_of(fusion_)) {
      const Instruction& i = fusion_.instr(id);
      const uint32_t written = written_number(fusion_, i, ++number);
      if (is_terminator(i)) {
        add_return_edges(i, written);
      } else {
        HOSTIR_TRY(add_op_edge(i, written));
      }
    }
    return std::move(edges_);
  }

 private:
  Expected<void> add_op_edge(const Instruction& i, uint32_t number) {
    PropagationEdge e;
    if (record(i.kind).rule != nullptr) {
      HOSTIR_ASSIGN_OR_RETURN(ShardingRule rule, rule_of(program_, fusion_, i));
      if (!rule.permutation.empty()) e.forwards = pass_near_shifts(i, rule);
      e.rule = std::make_shared<const ShardingRule>(std::move(rule));
      e.shape = record(i.kind).shape;
    } else {
      e.rule = identity_rule(tensor_type(fusion_, i.results.front()).shape);  // a reshard
    }
    e.mnemonic = record(i.kind).mnemonic;
    e.where = address(fusion_, number);
    e.single_use = true;
    for (const Operand& o : i.operands) {
      if (!o.value.valid()) continue;
      e.tensors.push_back(o.value.index);
      e.single_use = e.single_use && uses_[o.value.index].size() == 1;
    }
    e.operand_count = e.tensors.size();
    for (const ValueId r : i.results) e.tensors.push_back(r.index);
    edges_.push_back(std::move(e));
    return {};
  }

  // A slice, pad or roll that keeps most elements in place takes their cut along: only borders move
  // (halo_exchange.h). Returns the factors of such dimensions.
  std::vector<int> pass_near_shifts(const Instruction& i, ShardingRule& rule) const {
    std::vector<int> out;
    const auto view = view_of(fusion_, i);
    for (size_t d = 0; view && d < view->dims.size(); ++d) {
      const ShiftedView::Dim& dim = view->dims[d];
      const int64_t before = extent_of(fusion_, view->root, d) * dim.spread;
      const int64_t more = std::abs(dim.size * dim.stride - before);
      if (more > 2 && 8 * more > before) continue;
      rule.results.front()[d] = rule.operands.front()[d];  // a pad between elements has two factors
      out.push_back(rule.operands.front()[d].front());
      std::erase(rule.permutation, out.back());
    }
    return out;
  }

  // Ties each returned value to its declared sharding, as operand and result of an identity op.
  void add_return_edges(const Instruction& i, uint32_t number) {
    for (size_t r = 0; r < i.operands.size() && r < fusion_.results.size(); ++r) {
      if (sharding_of(fusion_.results[r].type) == nullptr) continue;
      PropagationEdge e;
      e.rule = identity_rule(shape_of(fusion_.results[r].type));
      e.tensors = {i.operands[r].value.index, fusion_.values.size() + r};
      e.operand_count = 1;
      e.single_use = true;
      e.mnemonic = "return";
      e.where = address(fusion_, number);
      edges_.push_back(std::move(e));
    }
  }

  const Program& program_;
  const Function& fusion_;
  std::vector<std::vector<InstrId>> uses_;
  std::vector<PropagationEdge> edges_;
};

bool in_any(const std::vector<ShardingRule::TensorFactors>& tensors, int factor) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& tensor) { return has_factor(tensor, factor); });
}

}  // namespace

bool PropagationEdge::in_operands(int factor) const { return in_any(rule->operands, factor); }
bool PropagationEdge::in_results(int factor) const { return in_any(rule->results, factor); }

bool PropagationEdge::passes_through() const {
  if (shape == OpShape::kIndexed) {
    // All other operands must be scalars (dynamic_slice), or the op cannot look up in parts.
    const bool scalars = std::all_of(rule->operands.begin() + 1, rule->operands.end(),
                                     [](const auto& tensor) { return tensor.empty(); });
    return scalars || rule->reduction.empty();
  }
  if (shape != OpShape::kPointwise && shape != OpShape::kBroadcast) return false;
  for (int f = 0; f < rule->factor_count(); ++f) {
    if (known_size(*rule, f) != 1 && (!in_operands(f) || !in_results(f))) return false;
  }
  return true;
}

bool PropagationEdge::widens() const {
  if (shape != OpShape::kBroadcast) return false;
  for (int f = 0; f < rule->factor_count(); ++f) {
    if (!in_operands(f) && known_size(*rule, f) != 1) return true;
  }
  return false;
}

Expected<std::vector<PropagationEdge>> propagation_edges(const Program& program,
                                                         const Function& fusion) {
  return EdgeBuilder(program, fusion).edges();
}

}  // namespace hostir
