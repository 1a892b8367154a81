#include "hostir/passes/homes/axis_homes.h"

#include <algorithm>

namespace hostir {

void AxisHomes::add(const std::string& axis, const std::vector<Dim>& homes) {
  const uint32_t bit = 1U << axes_.size();
  axes_.push_back(axis);
  for (const Dim& d : homes) {
    if (homes_of_.size() <= d.tensor) homes_of_.resize(d.tensor + 1);
    std::vector<uint32_t>& dims = homes_of_[d.tensor];
    if (dims.size() <= d.dim) dims.resize(d.dim + 1);
    dims[d.dim] |= bit;
  }
}

std::vector<AxisList> AxisHomes::barred(const ShardingRule& rule,
                                        std::span<const size_t> tensors) const {
  std::vector<AxisList> out;
  std::vector<uint32_t> at_home(static_cast<size_t>(rule.factor_count()));
  uint32_t any = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t] >= homes_of_.size()) continue;
    const std::vector<uint32_t>& dims = homes_of_[tensors[t]];
    const ShardingRule::TensorFactors& factors =
        t < rule.operands.size() ? rule.operands[t] : rule.results[t - rule.operands.size()];
    for (size_t d = 0; d < std::min(dims.size(), factors.size()); ++d) {
      if (factors[d].empty()) continue;
      at_home[static_cast<size_t>(factors[d].front())] |= dims[d];
      any |= dims[d];
    }
  }
  if (any == 0) return out;
  out.resize(at_home.size());
  for (size_t f = 0; f < out.size(); ++f) {
    for (size_t a = 0; a < axes_.size(); ++a) {
      if (((any & ~at_home[f]) >> a & 1U) != 0) out[f].push_back(AxisRef{.name = axes_[a]});
    }
  }
  return out;
}

std::vector<size_t> AxisHomes::dims_of(size_t tensor, size_t axis) const {
  std::vector<size_t> out;
  if (tensor >= homes_of_.size()) return out;
  for (size_t d = 0; d < homes_of_[tensor].size(); ++d) {
    if ((homes_of_[tensor][d] >> axis & 1U) != 0) out.push_back(d);
  }
  return out;
}

NamedHomes AxisHomes::named(const Function& fusion) const {
  NamedHomes out;
  for (size_t a = 0; a < axes_.size(); ++a) {
    auto& homes = out[axes_[a]];
    for (const Parameter& p : fusion.params) {
      for (const size_t d : dims_of(p.value.index, a))
        homes.insert({fusion.value(p.value).name, d});
    }
    for (size_t r = 0; r < fusion.results.size(); ++r) {
      for (const size_t d : dims_of(fusion.values.size() + r, a))
        homes.insert({fusion.results[r].name, d});
    }
  }
  return out;
}

std::string AxisHomes::text(size_t tensor) const {
  std::string out;
  if (tensor >= homes_of_.size()) return out;
  for (size_t d = 0; d < homes_of_[tensor].size(); ++d) {
    for (size_t a = 0; a < axes_.size(); ++a) {
      if ((homes_of_[tensor][d] >> a & 1U) != 0) out += std::to_string(d) + axes_[a] + ",";
    }
  }
  return out;
}

}  // namespace hostir
