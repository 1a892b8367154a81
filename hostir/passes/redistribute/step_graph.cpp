#include "hostir/passes/redistribute/step_graph.h"

#include <algorithm>

#include "hostir/passes/redistribute/waypoints.h"
#include "hostir/support/hash.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

uint64_t pair_of(StepGraph::Node a, StepGraph::Node b) { return uint64_t{a} << 32 | b; }

void mix(size_t value, size_t& hash) { hash = hash_with(hash, value); }

void mix(const AxisList& axes, size_t& hash) {
  mix(axes.size(), hash);
  for (const AxisRef& a : axes) {
    mix(std::hash<std::string>()(a.name), hash);
    mix(static_cast<size_t>(a.pre * 65537 + a.size), hash);
  }
}

// The smallest shape that every sharding without blocks cuts at the same places, up to the scale of
// its dimensions. That is so where all parts have the same size, and more than one element: no
// mesh has more parts than ranks.
Shape cut_alike(const Mesh& mesh, Shape shape) {
  const int64_t least = 2 * mesh.size();
  for (IndexExpr& size : shape) {
    size = size.simplified();
    if (size.is_const() && size.value() >= least && size.value() % mesh.size() == 0) size = least;
  }
  return shape;
}

std::string sizes_text(const Shape& shape) {
  std::string out;
  for (const IndexExpr& size : shape) out += size.to_string() + ",";
  return out;
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
  return hash;
}

StepGraph::Node StepGraph::node(const Sharding& sharding) {
  const auto [at, is_new] = nodes_.try_emplace(sharding, static_cast<Node>(shardings_.size()));
  if (is_new) shardings_.push_back(&at->first);
  return at->second;
}

StepGraph::Shaped& StepGraph::shaped(const TensorType& type, const std::string& key) {
  return shaped_.try_emplace(key, *this, type).first->second;
}

StepGraph::Shaped::Shaped(StepGraph& graph, TensorType type)
    : graph_(graph),
      type_(std::move(type)),
      alike_(cut_alike(graph.mesh_, type_.shape)),
      steps_alike_(graph.steps_alike_[sizes_text(alike_)]) {}

std::optional<double> StepGraph::Shaped::step_ns(Node from, Node to) {
  const auto [at, is_new] = steps_.try_emplace(pair_of(from, to));
  if (!is_new) return at->second;
  const Sharding& before = graph_.sharding(from);
  const Sharding& after = graph_.sharding(to);
  if (has_blocks(before) || has_blocks(after)) {
    const auto step = single_step(graph_.mesh_, type_.shape, before, after);
    if (step) at->second = graph_.cost_.step_ns(type_, before, *step);
    return at->second;
  }
  const auto [known, is_first] = steps_alike_.try_emplace(at->first);
  std::optional<RedistributeStep>& step = known->second;
  if (is_first) {
    step = single_step(graph_.mesh_, alike_, before, after);
    if (step) step->pairs.clear();
  }
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
