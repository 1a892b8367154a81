#include "hostir/passes/propagate/propagate.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "hostir/ops/value_meshes.h"
#include "hostir/passes/propagate/edge_worklist.h"
#include "hostir/passes/propagate/factors.h"
#include "hostir/passes/propagate/mark_partial.h"
#include "hostir/passes/propagate/propagation_edges.h"
#include "hostir/passes/propagate/propagation_memory.h"
#include "hostir/passes/propagate/sharded_tensor.h"
#include "hostir/passes/propagate/source_uses.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

enum class Strategy : uint8_t { kBasic, kAggressive };

constexpr int kRounds = 5;
// Larger tensors decide before a bias or its gradient how activations are cut: axes wait for round
// 3 if their target tensor is more than this many times as large as their source.
constexpr double kMuchSmaller = 64;

// The ways in which an edge may pass axes on. From one operand to another, both must be allowed.
struct Directions {
  bool forwards = true;
  bool backwards = true;
};

class Propagation {
 public:
  Propagation(const Mesh& mesh, std::vector<ShardedTensor> tensors,
              std::vector<PropagationEdge> edges, PropagationMemory& memory,
              Explanation& explanation)
      : mesh_(mesh),
        tensors_(std::move(tensors)),
        edges_(std::move(edges)),
        edges_of_(tensors_.size()),
        memory_(priorities().size() == 1 ? memory : own_memory_),
        explanation_(explanation) {
    for (size_t e = 0; e < edges_.size(); ++e) {
      for (const size_t t : edges_[e].tensors) edges_of_[t].push_back(e);
      passes_through_.push_back(edges_[e].passes_through());
      kinds_.push_back(memory_.kind_of(edges_[e], elems_of(edges_[e])));
      first_projection_.push_back(projections_.size());
      projections_.resize(projections_.size() + edges_[e].tensors.size());
    }
  }

  std::vector<ShardedTensor> run() {
    const std::set<int> all = priorities();
    last_priority_ = *all.rbegin();
    for (const int priority : all) {
      priority_ = priority;
      for (Projection& p : projections_) p.changes = 0;  // more dimensions are offered now
      settled_.assign(edges_.size(), {});
      own_memory_.forget();
      run_rounds();
    }
    return std::move(tensors_);
  }

 private:
  std::set<int> priorities() const {
    std::set<int> out = {0};
    for (const ShardedTensor& t : tensors_) {
      for (const DimSharding& d : t.dims) out.insert(d.priority);
    }
    return out;
  }

  void run_rounds() {
    for (auto& due : due_) {
      for (size_t e = 0; e < edges_.size(); ++e) due.add(e);
    }
    for (int round = 0; round < kRounds; ++round) {
      for (bool changed = true; changed;) {
        while (sweep(round, Strategy::kBasic)) {
        }
        changed = sweep(round, Strategy::kAggressive);
      }
    }
  }

  // Visits edges in program order. Skips edges whose tensors have not changed since their last
  // visit in this round and strategy, because they would change nothing.
  bool sweep(int round, Strategy strategy) {
    bool changed = false;
    EdgeWorklist& due = due_[static_cast<size_t>(round) * 2 + static_cast<size_t>(strategy)];
    for (size_t from = 0;;) {
      const std::optional<size_t> index = due.take(from);
      if (!index) return changed;
      const PropagationEdge& e = edges_[*index];
      from = *index + 1;
      if (round < 2 && !(passes_through_[*index] && (round > 0 || e.single_use))) continue;
      if (is_settled(*index, round, strategy)) continue;
      const bool moved = update(e, round, strategy);
      if (!moved) mark_settled(*index, round, strategy);
      changed |= moved;
    }
  }

  // The ways of updating an edge that have changed nothing since its tensors last changed.
  struct Settled {
    uint64_t changes = 0;  // of all its tensors
    uint16_t ways = 0;
  };

  // Most rounds treat most edges alike.
  uint16_t way(size_t edge, int round, Strategy strategy) const {
    const Directions go = directions(edges_[edge], round);
    const bool all_shared = passes_through_[edge] && edges_[edge].shape != OpShape::kIndexed;
    const bool shared_factors_only = round < 3 && !all_shared;
    const int number = (go.forwards ? 1 : 0) | (go.backwards ? 2 : 0) |
                       (shared_factors_only ? 4 : 0) | (strategy == Strategy::kBasic ? 8 : 0);
    return static_cast<uint16_t>(1U << static_cast<unsigned>(number));
  }

  uint64_t changes_of(const PropagationEdge& e) const {
    uint64_t out = 0;
    for (const size_t t : e.tensors) out += tensors_[t].changes;
    return out;
  }

  bool is_settled(size_t edge, int round, Strategy strategy) const {
    const Settled& s = settled_[edge];
    return (s.ways & way(edge, round, strategy)) != 0 && s.changes == changes_of(edges_[edge]);
  }

  void mark_settled(size_t edge, int round, Strategy strategy) {
    Settled& s = settled_[edge];
    const uint64_t changes = changes_of(edges_[edge]);
    if (s.changes != changes) s = {changes, 0};
    s.ways |= way(edge, round, strategy);
  }

  // One tensor of an edge, as the edge sees it. Valid until the tensor changes.
  struct Projection {
    uint64_t changes = 0;  // of the tensor when it was made, plus 1
    FactorCuts all;
    FactorCuts offered;  // of dimensions whose priority has come; empty if all are
  };

  const Projection& projection(const PropagationEdge& e, size_t t) const {
    Projection& known = projections_[first_projection_[index_of(e)] + t];
    const ShardedTensor& tensor = tensors_[e.tensors[t]];
    if (known.changes == tensor.changes + 1) return known;
    known.changes = tensor.changes + 1;
    known.all = project(mesh_, *e.rule, e.factors_of(t), tensor.dims, Borders::kNearby);
    if (priority_ == last_priority_) return known;
    std::vector<DimSharding> dims = tensor.dims;
    for (DimSharding& d : dims) {
      if (d.priority > priority_) d.axes.clear();
    }
    known.offered = project(mesh_, *e.rule, e.factors_of(t), dims, Borders::kNearby);
    return known;
  }

  size_t index_of(const PropagationEdge& e) const {
    return static_cast<size_t>(&e - edges_.data());
  }

  const FactorCuts& projected(const PropagationEdge& e, size_t t) const {
    return projection(e, t).all;
  }

  // The axes that tensor `t` passes on: those of dimensions whose priority has come.
  const FactorCuts& offered(const PropagationEdge& e, size_t t) const {
    const Projection& found = projection(e, t);
    return priority_ == last_priority_ ? found.all : found.offered;
  }

  static Directions directions(const PropagationEdge& e, int round) {
    if (round < 4 && e.widens()) return {.forwards = false};
    if (round < 2 && e.shape == OpShape::kIndexed) return {.backwards = false};
    return {};
  }

  // The cut of one factor on which all tensors agree, up to an axis that has its home elsewhere.
  FactorCut allowed(const PropagationEdge& e, int f, Directions go) const {
    FactorCut cut = agreed(e, f, go);
    if (!cut.empty() && !e.barred.empty())
      cut.axes = prefix_avoiding(mesh_, cut.axes, e.barred[static_cast<size_t>(f)]);
    return cut;
  }

  // Chooses the largest unit.
  FactorCut agreed(const PropagationEdge& e, int f, Directions go) const {
    AxisList out;
    int64_t unit = 1;
    bool capped = false;
    const size_t end = go.backwards ? e.tensors.size() : e.operand_count;
    for (size_t t = go.forwards ? 0 : e.operand_count; t < end; ++t) {
      if (!has_factor(e.factors_of(t), f)) continue;
      const FactorCut& cut = offered(e, t)[static_cast<size_t>(f)];
      const AxisList& mine = cut.axes;
      if (cut.unit % unit == 0) unit = cut.unit;
      if (is_prefix(mesh_, mine, out)) continue;
      const bool extends = is_prefix(mesh_, out, mine);
      if (extends && !capped) {
        out = mine;
      } else if (!extends) {
        out = common_prefix(mesh_, out, mine);
        capped = true;
      }
    }
    return cut_over(mesh_, std::move(out), unit, known_size(*e.rule, f));
  }

  // The axes of all other factors in any tensor of the op.
  AxisList held_elsewhere(const PropagationEdge& e, int f) const {
    AxisList out;
    for (size_t t = 0; t < e.tensors.size(); ++t) {
      const FactorCuts& cuts = offered(e, t);
      for (int g = 0; g < e.rule->factor_count(); ++g) {
        if (g == f) continue;
        const AxisList& theirs = cuts[static_cast<size_t>(g)].axes;
        out.insert(out.end(), theirs.begin(), theirs.end());
      }
    }
    return out;
  }

  // The part count and size of the tensor from which a factor's axes would come.
  std::pair<double, double> source_weight(const PropagationEdge& e, int f) const {
    int64_t parts = 1;
    double elems = 0;
    for (size_t t = 0; t < e.tensors.size(); ++t) {
      const int64_t n = part_count(mesh_, offered(e, t)[static_cast<size_t>(f)].axes);
      const double size = tensors_[e.tensors[t]].elems;
      if (n > parts || (n == parts && n > 1 && size > elems)) {
        parts = n;
        elems = size;
      }
    }
    return {static_cast<double>(parts), elems};
  }

  // The elements of `t`; if it is larger than all operands, as the scores of long attention are,
  // those of the largest operand.
  double deciding_elems(const PropagationEdge& e, size_t t) const {
    const std::vector<double> elems = elems_of(e);
    if (t < e.operand_count || e.shape != OpShape::kContraction) return elems[t];
    const auto operands = std::span(elems).first(e.operand_count);
    return std::min(elems[t], *std::ranges::max_element(operands));
  }

  std::vector<int> factor_order(const PropagationEdge& e) const {
    std::vector<int> order(static_cast<size_t>(e.rule->factor_count()));
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::pair<double, double>> weight;
    for (const int f : order) weight.push_back(source_weight(e, f));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const auto& [parts_a, elems_a] = weight[static_cast<size_t>(a)];
      const auto& [parts_b, elems_b] = weight[static_cast<size_t>(b)];
      return e.shape == OpShape::kPointwise ? parts_a > parts_b : elems_a > elems_b;
    });
    return order;
  }

  // If no tensor has axes, none can be passed on.
  bool has_axes(const PropagationEdge& e) const {
    return std::ranges::any_of(e.tensors, [&](size_t t) {
      return std::ranges::any_of(tensors_[t].dims, [](const auto& d) { return !d.axes.empty(); });
    });
  }

  std::vector<double> elems_of(const PropagationEdge& e) const {
    std::vector<double> out;
    for (const size_t t : e.tensors) out.push_back(tensors_[t].elems);
    return out;
  }

  bool update(const PropagationEdge& e, int round, Strategy strategy) {
    if (!has_axes(e)) return false;
    std::string question;
    append_number(kinds_[index_of(e)], question);
    append_number(way(index_of(e), round, strategy), question);
    for (const size_t t : e.tensors) {
      ShardedTensor& tensor = tensors_[t];
      if (tensor.state == 0) tensor.state = memory_.state_of(tensor.dims, tensor.taken);
      append_number(tensor.state, question);
    }
    if (const std::vector<AxesMove>* known = memory_.find(question)) {
      for (const AxesMove& move : *known) apply(e, move);
      return !known->empty();
    }
    moves_.clear();
    update_anew(e, round, strategy);
    const bool changed = !moves_.empty();
    memory_.keep(std::move(question), std::move(moves_));
    return changed;
  }

  // Applies the moves and keeps them in moves_.
  void update_anew(const PropagationEdge& e, int round, Strategy strategy) {
    const Directions go = directions(e, round);
    for (const int f : factor_order(e)) {
      if (e.rule->must_replicate(f)) continue;
      if (round < 3 && !(e.in_operands(f) && e.in_results(f))) continue;
      FactorCut cut = allowed(e, f, go);
      if (strategy == Strategy::kBasic) {
        cut.axes = prefix_avoiding(mesh_, cut.axes, held_elsewhere(e, f));
      }
      if (cut.empty()) continue;
      const double source_elems = round < 3 ? source_weight(e, f).second : 0;
      const auto waits = [&](size_t t) {
        return round < 3 && source_elems * kMuchSmaller < deciding_elems(e, t);
      };
      for (size_t t = e.operand_count; go.forwards && t < e.tensors.size(); ++t)
        if (!waits(t)) extend(e, t, f, cut);
      if (!go.backwards || contains(e.forwards, f)) continue;
      if (e.shape == OpShape::kPointwise) cut.axes = taken_by_result(e, f, cut.axes);
      for (size_t t = 0; t < e.operand_count; ++t)
        if (!waits(t)) extend(e, t, f, cut);
    }
  }

  // The longest prefix of `axes` that a result has. An operand of a pointwise op takes no more from
  // another operand: the result would not be cut that way, so the operand would be gathered again.
  AxisList taken_by_result(const PropagationEdge& e, int f, const AxisList& axes) const {
    AxisList out;
    for (size_t t = e.operand_count; t < e.tensors.size(); ++t) {
      AxisList common = common_prefix(mesh_, axes, projected(e, t)[static_cast<size_t>(f)].axes);
      if (part_count(mesh_, common) > part_count(mesh_, out)) out = std::move(common);
    }
    return out;
  }

  // Extends tensor `t` by the cut of factor `f` where its dimensions are open and the axes unused.
  void extend(const PropagationEdge& e, size_t t, int f, const FactorCut& cut) {
    const auto& factors = e.factors_of(t);
    if (!has_factor(factors, f)) return;
    const ShardedTensor& tensor = tensors_[e.tensors[t]];
    const FactorCut& held = projected(e, t)[static_cast<size_t>(f)];
    if (!is_prefix(mesh_, held.axes, cut.axes) || cut.unit % held.unit != 0) return;
    if (held == cut && !borders_may_move(e, t, f)) return;
    AxisList used = tensor.taken;
    for (const DimSharding& d : tensor.dims) used.insert(used.end(), d.axes.begin(), d.axes.end());
    const AxisList more = prefix_avoiding(mesh_, suffix_after(mesh_, cut.axes, held.axes), used);
    if (more.empty() && held.empty()) return;
    FactorCuts mine = projected(e, t);
    mine[static_cast<size_t>(f)] =
        cut_over(mesh_, joined(mesh_, held.axes, more), cut.unit, known_size(*e.rule, f));
    const std::vector<DimSharding> dims = assemble(mesh_, *e.rule, factors, mine);
    for (size_t d = 0; d < dims.size(); ++d) {
      const DimSharding& old = tensor.dims[d];
      if (!old.open || (dims[d].axes == old.axes && dims[d].unit == old.unit)) continue;
      if (!contains(factors[d], f)) continue;
      if (!is_prefix(mesh_, old.axes, dims[d].axes) || dims[d].unit % old.unit != 0) continue;
      AxesMove move{t, d, dims[d].axes, suffix_after(mesh_, dims[d].axes, old.axes), dims[d].unit,
                    f, t};
      move.source = source_of(e, move);
      apply(e, move);
      moves_.push_back(std::move(move));
    }
  }

  // A merged dimension may be cut elsewhere than at the borders of the factor that another tensor
  // has as a dimension of its own.
  bool borders_may_move(const PropagationEdge& e, size_t t, int f) const {
    if (!is_merged(e.factors_of(t), f)) return false;
    for (size_t s = 0; s < e.tensors.size(); ++s) {
      if (s != t && !projected(e, s)[static_cast<size_t>(f)].empty()) return true;
    }
    return false;
  }

  void apply(const PropagationEdge& e, const AxesMove& move) {
    ShardedTensor& tensor = tensors_[e.tensors[move.tensor]];
    explanation_.push_back(explained(e, move, tensor.name, tensors_[e.tensors[move.source]].name));
    explanation_.back().id = tensor.id;
    tensor.dims[move.dim].axes = move.axes;
    tensor.dims[move.dim].unit = move.unit;
    ++tensor.changes;
    tensor.state = 0;
    for (EdgeWorklist& due : due_) {
      for (const size_t edge : edges_of_[e.tensors[move.tensor]]) due.add(edge);
    }
  }

  // The axes came from the tensor with most parts along this factor.
  size_t source_of(const PropagationEdge& e, const AxesMove& move) const {
    size_t source = move.tensor;
    int64_t parts = 1;
    for (size_t s = 0; s < e.tensors.size(); ++s) {
      const int64_t n = part_count(mesh_, projected(e, s)[static_cast<size_t>(move.factor)].axes);
      if (s != move.tensor && n > parts) {
        parts = n;
        source = s;
      }
    }
    return source;
  }

  const Mesh& mesh_;
  std::vector<ShardedTensor> tensors_;
  std::vector<PropagationEdge> edges_;
  std::vector<std::vector<size_t>> edges_of_;  // by tensor
  std::vector<bool> passes_through_;           // by edge
  std::vector<uint32_t> kinds_;                // by edge
  std::vector<size_t> first_projection_;       // by edge: of its first tensor
  mutable std::vector<Projection> projections_;
  std::vector<Settled> settled_;                   // by edge
  std::array<EdgeWorklist, kRounds* 2> due_ = {};  // by round and strategy
  int priority_ = 0;  // only dimensions up to this priority pass axes on
  int last_priority_ = 0;
  PropagationMemory own_memory_;  // of one priority
  PropagationMemory& memory_;
  std::vector<AxesMove> moves_;  // of the edge being updated
  Explanation& explanation_;
};

}  // namespace

Function propagate(const Program& program, Function fusion,
                   const std::vector<PropagationEdge>& edges, const std::string& mesh_name,
                   MeshMoves& moves, Explanation& explanation, const AxisHomes& homes) {
  std::vector<ShardedTensor> tensors;
  std::vector<bool> annotated;
  for (const Value& v : fusion.values) {
    tensors.push_back(tensor_from(v.name, v.type));
    tensors.back().id = v.origin;
    annotated.push_back(sharding_of(v.type) != nullptr);
    if (annotated.back()) {
      explanation.push_back({.value = v.name,
                             .what = sharding_of(v.type)->dims_to_string(),
                             .sentence = "written in the program",
                             .from = {},
                             .pass = "propagate",
                             .id = v.origin});
    }
  }
  for (const ResultDecl& r : fusion.results) tensors.push_back(tensor_from(r.name, r.type));
  const ValueMeshes meshes = value_meshes(fusion);
  const auto mesh_of = [&](size_t tensor) -> const std::string& {
    const bool is_value = tensor < fusion.values.size();
    const Sharding* declared =
        is_value ? nullptr : sharding_of(fusion.results[tensor - fusion.values.size()].type);
    const std::string& mesh = is_value ? meshes.of[tensor] : declared ? declared->mesh : mesh_name;
    return mesh.empty() ? mesh_name : mesh;
  };
  // Only a reshard has tensors on two meshes; axes mean nothing beyond their mesh.
  std::map<std::string, std::vector<PropagationEdge>> by_mesh;
  for (const PropagationEdge& e : edges) {
    const std::string& mesh = mesh_of(e.tensors.back());
    if (mesh_of(e.tensors.front()) != mesh) continue;
    PropagationEdge& mine = by_mesh[mesh].emplace_back(e);
    if (!homes.empty()) mine.barred = homes.barred(*e.rule, e.tensors);
  }
  SourceUses sources(fusion, annotated);
  for (auto& [mesh, its_edges] : by_mesh) {
    for (const size_t value : sources.separate(its_edges, tensors.size()))
      tensors.push_back(ShardedTensor(tensors[value]));
    Propagation propagation(*program.find_mesh(mesh), std::move(tensors), std::move(its_edges),
                            moves.propagation_on(mesh), explanation);
    tensors = propagation.run();
  }
  for (const std::vector<size_t>& uses : sources.uses()) {  // a value gets the axes of all uses
    const auto& dims = tensors[uses[1]].dims;
    const bool agree = std::all_of(uses.begin() + 1, uses.end(),
                                   [&](size_t use) { return tensors[use].dims == dims; });
    if (agree) tensors[uses[0]].dims = std::vector<DimSharding>(dims);
  }

  const auto write = [&](Type& type, size_t t) {
    auto& tensor = std::get<TensorType>(type);
    Sharding s = tensor.sharding.value_or(Sharding{});
    s.mesh = mesh_of(t);
    s.dims = tensors[t].dims;
    for (DimSharding& d : s.dims) d.priority = 0;
    tensor.sharding = std::move(s);
  };
  for (size_t v = 0; v < fusion.values.size(); ++v) write(fusion.values[v].type, v);
  for (size_t r = 0; r < fusion.results.size(); ++r) {
    if (sharding_of(fusion.results[r].type) == nullptr) continue;
    write(fusion.results[r].type, fusion.values.size() + r);
  }
  mark_partial(program, fusion, edges, annotated, explanation);
  return fusion;
}

}  // namespace hostir
