#include "hostir/passes/choose/factor_moves.h"

#include <algorithm>

namespace hostir {

// The rule in which shifted factors may be cut: an operand's factor is that of the results.
ShardingRule with_shifts_cut(ShardingRule rule) {
  for (const ShardingRule::Shift& s : rule.shifts) {
    for (ShardingRule::DimFactors& dim : rule.operands[s.operand]) {
      if (dim.size() == 1 && dim.front() == s.from) dim.front() = s.to;
    }
    std::erase(rule.permutation, s.to);
    std::erase(rule.replicated, s.to);
  }
  return rule;
}

bool has_compound(const ShardingRule& rule) {
  const auto is_compound = [](const ShardingRule::TensorFactors& tensor) {
    return std::any_of(tensor.begin(), tensor.end(), [](const auto& d) { return d.size() > 1; });
  };
  return std::any_of(rule.operands.begin(), rule.operands.end(), is_compound) ||
         std::any_of(rule.results.begin(), rule.results.end(), is_compound);
}

// The choices in which axes that a change of shape cannot keep (3 ranks and 8 heads) cut another
// factor, as in with_whole_factors_moved().
std::vector<FactorCuts> with_lost_axes_moved(const Mesh& mesh, const ShardingRule& rule,
                                             const Sharding& held, const FactorCuts& seen) {
  const FactorCuts kept = legalized(mesh, rule, seen);
  const AxisList lost = without(mesh, dimension_axes(mesh, held), axes_of(kept));
  std::vector<FactorCuts> out;
  if (lost.empty()) return out;
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (rule.must_replicate(f)) continue;
    FactorCuts other = kept;
    AxisList& target = other[static_cast<size_t>(f)].axes;
    target = joined(mesh, target, lost);
    out.push_back(std::move(other));
  }
  return out;
}

std::optional<size_t> dim_of_factor(const ShardingRule::TensorFactors& tensor, int factor) {
  for (size_t d = 0; d < tensor.size(); ++d) {
    if (tensor[d].size() == 1 && tensor[d].front() == factor) return d;
  }
  return std::nullopt;
}

}  // namespace hostir
