#include "hostir/passes/meshes/mesh_moves.h"

#include <algorithm>

#include "hostir/passes/choose/placement_choice.h"
#include "hostir/passes/meshes/mesh_arrangement.h"
#include "hostir/passes/propagate/propagation_memory.h"
#include "hostir/support/lists.h"

namespace hostir {

Sharding reduced(Sharding s) {
  s.unreduced.clear();
  s.unreduced_kind = Reduction::kSum;
  return s;
}

namespace {

constexpr double kPerStepNs = 1;  // added per step, so that the shorter of two equal plans wins
constexpr double kNearly = 1.1;   // plans up to this much slower: fewest bytes win

OpKind kind_of(const RedistributeStep& step) {
  if (step.kind == StepKind::kBroadcast) return OpKind::broadcast;
  if (step.kind == StepKind::kReduce) return OpKind::reduce;
  return step.kind == StepKind::kPermute ? OpKind::permute : OpKind::all_to_all;
}

// Partial over all axes that do not cut it: coordinate 0 can get the value and the others zeros.
Sharding held_by_roots(const Mesh& mesh, Sharding s) {
  AxisList all;
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.size > 1) all.push_back({axis.name, 1, 0});
  }
  s.unreduced = without(mesh, all, dimension_axes(mesh, s));
  s.unreduced_kind = Reduction::kSum;
  return effective(mesh, std::move(s));
}

// Different shardings, in the order in which they were added.
class Proposals {
 public:
  void add(std::optional<Sharding> s) {
    if (s) add_once(list_, *s);
  }
  const std::vector<Sharding>& list() const { return list_; }

 private:
  std::vector<Sharding> list_;
};

}  // namespace

MeshMoves::MeshMoves(const Program& program, const Machine& machine, double largest_bytes)
    : machine_(machine), largest_bytes_(largest_bytes), meshes_(program.meshes) {}
MeshMoves::~MeshMoves() = default;

KnownChoices& MeshMoves::choices_on(const std::string& name) {
  auto& choices = choices_on_[name];
  if (choices == nullptr) choices = std::make_unique<KnownChoices>();
  return *choices;
}

PropagationMemory& MeshMoves::propagation_on(const std::string& name) {
  auto& memory = propagation_on_[name];
  if (memory == nullptr) memory = std::make_unique<PropagationMemory>();
  return *memory;
}

const Mesh& MeshMoves::mesh(const std::string& name) const {
  return *std::find_if(meshes_.begin(), meshes_.end(),
                       [&](const Mesh& m) { return m.name == name; });
}

Redistributor& MeshMoves::on(const std::string& name) {
  auto& moves = on_[name];
  if (moves == nullptr) {
    moves = std::make_unique<Redistributor>(mesh(name), machine_, largest_bytes_);
  }
  return *moves;
}

double MeshMoves::step_bytes(const TensorType& type, const Sharding& from,
                             const RedistributeStep& step) {
  if (from.mesh == step.to.mesh) return on(from.mesh).cost().step_bytes(type, from, step);
  return static_cast<double>(size_bytes(type.dtype)) * transfer(type, from, step).largest;
}

double MeshMoves::bytes(const TensorType& type, const Sharding& from, const Redistribution& plan) {
  double out = 0;
  const Sharding* at = &from;
  for (const RedistributeStep& step : plan.steps) {
    out += step_bytes(type, *at, step);
    at = &step.to;
  }
  return out;
}

std::vector<Redistribution> MeshMoves::others(const TensorType& type, const Sharding& from,
                                              const Sharding& to) {
  if (from.mesh != to.mesh) return {};
  return on(from.mesh).others(type, from, to);
}

TransferElems MeshMoves::transfer(const TensorType& type, const Sharding& from,
                                  const RedistributeStep& step) const {
  return transfer_elems(mesh(from.mesh), mesh(step.to.mesh), typical_extents(type.shape), from,
                        step);
}

double MeshMoves::bytes_of_all_ranks(const TensorType& type, const Sharding& from,
                                     const Redistribution& plan) {
  double out = 0;
  const Sharding* at = &from;
  for (const RedistributeStep& step : plan.steps) {
    out += at->mesh == step.to.mesh
               ? step_bytes(type, *at, step) * static_cast<double>(mesh(at->mesh).size())
               : static_cast<double>(size_bytes(type.dtype)) * transfer(type, *at, step).total;
    at = &step.to;
  }
  return out;
}

double MeshMoves::step_ns(const TensorType& type, const Sharding& from,
                          const RedistributeStep& step) {
  if (from.mesh == step.to.mesh) return on(from.mesh).cost().step_ns(type, from, step);
  if (step.kind == StepKind::kRelabel) return 0;
  const StepCost& cost = on(step.to.mesh).cost();
  const auto bytes = [&](const Sharding& s) {
    return largest_local_elems(mesh(s.mesh), type.shape, s) *
           static_cast<double>(size_bytes(type.dtype));
  };
  if (step.kind == StepKind::kLocal) return cost.kernel_ns(type.dtype, 0, 2 * bytes(step.to));
  const std::vector<int32_t> ranks(step.ranks.begin(), step.ranks.end());
  double ns =
      cost.transfer_ns(kind_of(step), step_bytes(type, from, step), place_group(machine_, ranks));
  if (step.sent == Blocks::kCopied) ns += cost.kernel_ns(type.dtype, 0, 2 * bytes(from));
  if (step.received == Blocks::kCopied) ns += cost.kernel_ns(type.dtype, 0, 2 * bytes(step.to));
  return ns;
}

const Redistribution& MeshMoves::plan(const TensorType& type, const Sharding& from,
                                      const Sharding& to) {
  if (from.mesh == to.mesh) return on(from.mesh).plan(type, from, to);
  const std::string key =
      shape_to_string(type.shape, type.dtype) + from.to_string() + to.to_string();
  const auto [at, is_new] = crossings_.try_emplace(key);
  if (is_new) {
    at->second = crossing(type, effective(mesh(from.mesh), from), effective(mesh(to.mesh), to));
  }
  return at->second;
}

Redistribution MeshMoves::crossing(const TensorType& type, const Sharding& from,
                                   const Sharding& to) {
  const Mesh& a = mesh(from.mesh);
  const Mesh& b = mesh(to.mesh);
  const Extents extents = typical_extents(type.shape);
  const Sharding whole = reduced(to);
  Proposals before;
  before.add(from);
  before.add(reduced(from));
  before.add(arranged_like(a, b, whole, extents));
  before.add(cut_over_all(a, reduced(from), extents));
  before.add(cut_over_all(a, before.list().back(), extents));
  before.add(arranged_like(a, b, cut_over_all(b, whole, extents), extents));
  before.add(Sharding::replicated(a.name, extents.size()));
  before.add(cut_over_all(a, Sharding::replicated(a.name, extents.size()), extents));
  Proposals after;
  after.add(whole);
  after.add(to);
  for (const Sharding& s : before.list()) after.add(arranged_like(b, a, s, extents));
  after.add(cut_over_all(b, whole, extents));
  after.add(cut_over_all(b, Sharding::replicated(b.name, extents.size()), extents));
  if (type.dtype != DType::kI1) {  // no collective reduces these
    after.add(held_by_roots(b, whole));
    after.add(held_by_roots(b, Sharding::replicated(b.name, extents.size())));
  }

  std::vector<Redistribution> plans;
  for (const Sharding& s : before.list()) {
    for (const Sharding& t : after.list()) {
      auto cross = step_between(a, b, type.shape, s, t);
      // By broadcast, a rank gets only the elements that it needs in the end.
      if (!cross || (cross->kind == StepKind::kBroadcast && !(t == to))) continue;
      Redistribution made = on(a.name).plan(type, from, s);
      made.cost_ns += step_ns(type, s, *cross);
      made.steps.push_back(std::move(*cross));
      const Redistribution& rest = on(b.name).plan(type, t, to);
      made.cost_ns += rest.cost_ns;
      made.steps.insert(made.steps.end(), rest.steps.begin(), rest.steps.end());
      plans.push_back(std::move(made));
    }
  }
  // A plan always exists: a tensor that is whole on both sides is cut over all ranks of both meshes
  // and exchanged; a scalar goes from one rank to the root of a sum. with_mesh_borders() casts i1
  // scalars, which cannot be summed.
  const auto rank_of = [](const Redistribution& r) {
    return r.cost_ns + kPerStepNs * static_cast<double>(r.steps.size());
  };
  std::stable_sort(
      plans.begin(), plans.end(),
      [&](const Redistribution& x, const Redistribution& y) { return rank_of(x) < rank_of(y); });
  const double nearly = plans.front().cost_ns * kNearly;
  const auto dear = std::find_if(plans.begin(), plans.end(),
                                 [&](const Redistribution& r) { return r.cost_ns > nearly; });
  return std::move(
      *std::min_element(plans.begin(), dear, [&](const Redistribution& x, const Redistribution& y) {
        return bytes_of_all_ranks(type, from, x) < bytes_of_all_ranks(type, from, y);
      }));
}

}  // namespace hostir
