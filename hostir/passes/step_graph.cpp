#include "hostir/passes/step_graph.h"

#include <algorithm>

#include "hostir/passes/waypoints.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

uint64_t pair_of(StepGraph::Node a, StepGraph::Node b) { return uint64_t{a} << 32 | b; }

void mix(size_t value, size_t& hash) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; }

void mix(const AxisList& axes, size_t& hash) {
  mix(axes.size(), hash);
  for (const AxisRef& a : axes) {
    mix(std::hash<std::string>()(a.name), hash);
    mix(static_cast<size_t>(a.pre * 65537 + a.size), hash);
  }
}

}  // namespace

size_t StepGraph::Hash::operator()(const Sharding& s) const {
  size_t hash = s.dims.size();
  for (const DimSharding& d : s.dims) {
    mix(d.axes, hash);
    mix(static_cast<size_t>(((d.unit * 65537 + d.block) * 65537 + d.origin) * 65537 + d.turn),
        hash);
  }
  mix(s.unreduced, hash);
  return hash ^ hash >> 32;
}

StepGraph::Node StepGraph::node(const Sharding& sharding) {
  const auto [at, is_new] = nodes_.try_emplace(sharding, static_cast<Node>(shardings_.size()));
  if (is_new) shardings_.push_back(&at->first);
  return at->second;
}

StepGraph::Shaped& StepGraph::shaped(const TensorType& type, const std::string& key) {
  return shaped_.try_emplace(key, *this, type).first->second;
}

std::optional<double> StepGraph::Shaped::step_ns(Node from, Node to) {
  const auto [at, is_new] = steps_.try_emplace(pair_of(from, to));
  if (!is_new) return at->second;
  const Sharding& before = graph_.sharding(from);
  const auto step = single_step(graph_.mesh_, type_.shape, before, graph_.sharding(to));
  if (step) at->second = graph_.cost_.step_ns(type_, before, *step);
  return at->second;
}

const std::vector<StepGraph::Node>& StepGraph::waypoints(Node at, Node target) {
  const auto [found, is_new] = waypoints_.try_emplace(pair_of(at, target));
  std::vector<Node>& out = found->second;
  if (!is_new) return out;
  for (const Sharding& s : hostir::waypoints(mesh_, sharding(at), sharding(target))) {
    const Node n = node(s);
    add_once(out, n);
  }
  return out;
}

}  // namespace hostir
