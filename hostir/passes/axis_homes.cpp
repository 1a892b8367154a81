#include "hostir/passes/axis_homes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "hostir/ops/value_meshes.h"
#include "hostir/passes/fusion_info.h"
#include "hostir/passes/propagate.h"
#include "hostir/passes/propagation_edges.h"
#include "hostir/passes/reshard.h"
#include "hostir/passes/task_times.h"

namespace hostir {

namespace {

constexpr size_t kMaxHomesTried = 3;   // per axis
constexpr size_t kMaxOpsTried = 400;   // the first ones stand for all: layers repeat
constexpr double kWorthAHome = 1.01;   // how many times cheaper a home must be
constexpr double kFewerBytes = 1.1;    // how many times fewer bytes are worth more time,
constexpr double kMayCost = 1.02;      // up to so many times as much
constexpr double kMuchCheaper = 1.3;   // how much less time is worth more bytes
constexpr double kSameBytes = 1.02;    // how many times more bytes count as no more,
constexpr double kFewerStarts = 1.25;  // where shared calls make the moves so many times cheaper

const Type& type_of(const Function& fusion, size_t tensor) {
  const size_t values = fusion.values.size();
  return tensor < values ? fusion.values[tensor].type : fusion.results[tensor - values].type;
}

// True if the user said in which order annotations count.
bool has_priorities(const Function& fusion) {
  for (size_t t = 0; t < fusion.values.size() + fusion.results.size(); ++t) {
    const Sharding* s = sharding_of(type_of(fusion, t));
    if (s == nullptr) continue;
    if (std::any_of(s->dims.begin(), s->dims.end(), [](const auto& d) { return d.priority > 0; }))
      return true;
  }
  return false;
}

struct Price {
  double ns = 0;
  double shared_ns = 0;  // where moves that can share a call have one start,
  double moves_ns = 0;   // and its part for moves
  double bytes = 0;      // over one rank's links
  // On fast links, the time of a gather is close to that of other choices, and a model of time is
  // not that exact. So a home must save both time and bytes, or very much of one of them.
  bool is_worth_more_than(const Price& other) const {
    if (ns * kMuchCheaper < other.ns) return true;
    if (bytes * kFewerBytes < other.bytes)
      return ns < other.ns * kMayCost && shared_ns < other.shared_ns * kMayCost;
    if (bytes <= other.bytes * kSameBytes && moves_ns * kFewerStarts < other.moves_ns)
      return shared_ns < other.shared_ns;
    return bytes <= other.bytes && ns * kWorthAHome < other.ns;
  }
};

// Collectives that can share a call, as `combine` makes them do: those of one kind that need not
// wait for each other. Gathers of parameters and reductions of gradients share a few calls, while
// those of activations follow each other.
class SharedStarts {
 public:
  explicit SharedStarts(const Function& fusion) : fusion_(fusion) {}

  /// `steps`: those of the reshard `i`.
  void add(const Instruction& i, const std::vector<RedistributeStep>& steps, const StepCost& cost) {
    size_t count = 0;
    for (const RedistributeStep& step : steps) {
      if (step.kind == StepKind::kLocal) continue;
      calls_.push_back({i.results.front(), count++,
                        std::string(name(step.kind)) + axes_to_string(step.axes),
                        cost.start_ns(step)});
    }
    count_[i.results.front().index] = count;
  }

  /// The time of the starts that are saved. The calls of a kind are made as late as the first of
  /// them allows, each with all that are ready.
  double saved_ns() const {
    const std::vector<size_t> before = calls_before();
    const std::vector<size_t> after = calls_after();
    size_t all = 0;
    for (size_t v = 0; v < before.size(); ++v) all = std::max(all, before[v] + after[v]);
    struct Interval {
      size_t last;
      size_t first;
      double start_ns;
    };
    std::map<std::string, std::vector<Interval>> kinds;
    for (const Call& c : calls_) {
      const size_t v = c.value.index;
      const size_t behind = count_.at(c.value.index) - c.place;  // with this one
      kinds[c.kind].push_back({all - after[v] - behind, before[v] - behind, c.start_ns});
    }
    double saved = 0;
    for (auto& [kind, intervals] : kinds) {
      std::sort(intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.last < b.last; });
      std::optional<size_t> made;
      for (const Interval& i : intervals) {
        if (made && i.first <= *made)
          saved += i.start_ns;
        else
          made = i.last;
      }
    }
    return saved;
  }

 private:
  struct Call {
    ValueId value;  // the result of its reshard
    size_t place;   // among the calls of its reshard
    std::string kind;
    double start_ns;
  };

  size_t calls_of(ValueId v) const {
    const auto found = count_.find(v.index);
    return found == count_.end() ? 0 : found->second;
  }

  // By value: the longest chain of calls that leads to it.
  std::vector<size_t> calls_before() const {
    std::vector<size_t> out(fusion_.values.size(), 0);
    for (const InstrId id : body_of(fusion_)) {
      const Instruction& i = fusion_.instr(id);
      size_t most = 0;
      for (const Operand& o : i.operands) {
        if (o.value.valid()) most = std::max(most, out[o.value.index]);
      }
      for (const ValueId r : i.results) out[r.index] = most + calls_of(r);
    }
    return out;
  }

  // By value: the longest chain of calls that starts from it.
  std::vector<size_t> calls_after() const {
    std::vector<size_t> out(fusion_.values.size(), 0);
    const auto body = body_of(fusion_);
    for (size_t at = body.size(); at-- > 0;) {
      const Instruction& i = fusion_.instr(body[at]);
      size_t most = 0;
      for (const ValueId r : i.results) most = std::max(most, out[r.index] + calls_of(r));
      for (const Operand& o : i.operands) {
        if (o.value.valid()) out[o.value.index] = std::max(out[o.value.index], most);
      }
    }
    return out;
  }

  const Function& fusion_;
  std::vector<Call> calls_;
  std::map<uint32_t, size_t> count_;  // calls by the reshard's result
};

// The moves and the work of a fusion with reshards.
Price price(const Program& program, const Function& fusion, MeshMoves& moves) {
  Price out;
  SharedStarts starts(fusion);
  for (const InstrId id : body_of(fusion)) {
    const Instruction& i = fusion.instr(id);
    const OpRecord& op = record(i.kind);
    if (is_terminator(i)) continue;
    const TensorType& made = tensor_type(fusion, i.results.front());
    if (op.shape == OpShape::kLayout) {
      const TensorType& from = tensor_type(fusion, i.operands.front().value);
      const Redistribution plan = moves.plan(made, *from.sharding, *made.sharding);
      out.ns += plan.cost_ns;
      out.moves_ns += plan.cost_ns;
      starts.add(i, plan.steps, moves.on(made.sharding->mesh).cost());
      Sharding at = *from.sharding;
      for (const RedistributeStep& step : plan.steps) {
        out.bytes += moves.step_bytes(made, at, step);
        at = step.to;
      }
    } else if (op.cost != nullptr) {
      const Mesh& mesh = moves.mesh(made.sharding->mesh);
      const auto box = [&](ValueId v) {
        const TensorType& type = tensor_type(fusion, v);
        return largest_box(mesh, type.shape, *type.sharding);
      };
      std::vector<Extents> in;
      std::vector<Extents> results;
      for (const Operand& o : i.operands) in.push_back(box(o.value));
      for (const ValueId r : i.results) results.push_back(box(r));
      const Cost cost = op.cost(BoundCall(program, fusion, i).call, in, results);
      const StepCost& costs = moves.on(mesh.name).cost();
      out.ns += costs.kernel_ns(made.dtype, cost.flops, cost.read_bytes + cost.write_bytes);
    }
  }
  const double saved = starts.saved_ns();
  out.shared_ns = out.ns - saved;
  out.moves_ns -= saved;
  return out;
}

// Classes of dimensions that share factors.
class DimClasses {
 public:
  DimClasses(const Function& fusion, const std::vector<PropagationEdge>& edges) {
    size_t dims = 0;
    for (size_t t = 0; t < fusion.values.size() + fusion.results.size(); ++t) {
      first_.push_back(dims);
      dims += shape_of(type_of(fusion, t)).size();
    }
    first_.push_back(dims);
    parent_.resize(dims);
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (const PropagationEdge& e : edges) join(e);
  }

  size_t of(size_t tensor, size_t dim) const { return root(first_[tensor] + dim); }

  std::set<size_t> of_edge(const PropagationEdge& e) const {
    std::set<size_t> out;
    for (size_t t = 0; t < e.tensors.size(); ++t) {
      for (size_t d = 0; d < e.factors_of(t).size(); ++d) out.insert(of(e.tensors[t], d));
    }
    return out;
  }

  // The dimensions of these classes.
  std::vector<AxisHomes::Dim> members(const std::set<size_t>& classes) const {
    std::vector<AxisHomes::Dim> out;
    for (size_t t = 0; t + 1 < first_.size(); ++t) {
      for (size_t d = 0; first_[t] + d < first_[t + 1]; ++d) {
        if (classes.contains(of(t, d))) out.push_back({t, d});
      }
    }
    return out;
  }

 private:
  void join(const PropagationEdge& e) {
    std::vector<size_t> seen(static_cast<size_t>(e.rule.factor_count()), SIZE_MAX);
    for (size_t t = 0; t < e.tensors.size(); ++t) {
      const ShardingRule::TensorFactors& factors = e.factors_of(t);
      for (size_t d = 0; d < factors.size(); ++d) {
        if (factors[d].empty()) continue;
        // Several factors are one dimension merged from several: the major one is cut first.
        size_t& first = seen[static_cast<size_t>(factors[d].front())];
        const size_t mine = of(e.tensors[t], d);
        if (first == SIZE_MAX) first = mine;
        parent_[mine] = root(first);
      }
    }
    for (const ShardingRule::Shift& shift : e.rule.shifts) {
      const size_t from = seen[static_cast<size_t>(shift.from)];
      const size_t to = seen[static_cast<size_t>(shift.to)];
      if (from != SIZE_MAX && to != SIZE_MAX) parent_[root(from)] = root(to);
    }
  }

  size_t root(size_t at) const {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  std::vector<size_t> first_;  // by tensor: its first dimension in parent_
  mutable std::vector<size_t> parent_;
};

class HomeSearch {
 public:
  // `used`: the only mesh that the fusion names; `mesh` may have more ranks.
  HomeSearch(const Program& program, const Function& fusion, const std::string& mesh,
             const Mesh& used, MeshMoves& moves, std::span<const std::string> kept)
      : program_(program),
        fusion_(fusion),
        mesh_(mesh),
        used_(used),
        moves_(moves),
        keep_(kept.begin(), kept.end()) {}

  Expected<AxisHomes> run() {
    HOSTIR_ASSIGN_OR_RETURN(const auto edges, propagation_edges(program_, fusion_));
    const DimClasses classes(fusion_, edges);
    note_annotations(classes);
    note_conflicts(classes, edges);
    AxisHomes best;
    if (conflicts_.empty()) return best;
    weigh(classes);
    if (body_of(fusion_).size() > kMaxOpsTried) take_first_ops();
    HOSTIR_ASSIGN_OR_RETURN(Price least, price_with(best));
    for (const auto& [axis, conflicts] : conflicts_) {
      const AxisHomes before = best;
      for (const std::set<size_t>& homes : sets_to_try(conflicts)) {
        AxisHomes tried = before;
        tried.add(axis, classes.members(homes));
        HOSTIR_ASSIGN_OR_RETURN(const Price its, price_with(tried));
        if (!its.is_worth_more_than(least)) continue;
        best = std::move(tried);
        least = its;
      }
    }
    return best;
  }

 private:
  using Conflicts = std::map<size_t, std::set<size_t>>;  // by class: those that it meets in an op

  void note_annotations(const DimClasses& classes) {
    for (size_t t = 0; t < fusion_.values.size() + fusion_.results.size(); ++t) {
      const Sharding* s = sharding_of(type_of(fusion_, t));
      for (size_t d = 0; s != nullptr && d < s->dims.size(); ++d) {
        for (const AxisRef& axis : s->dims[d].axes) {
          if (used_.axis_size(axis) < 2) continue;
          annotated_[axis.name].insert(classes.of(t, d));
        }
      }
    }
  }

  void note_conflicts(const DimClasses& classes, const std::vector<PropagationEdge>& edges) {
    std::erase_if(annotated_, [](const auto& each) { return each.second.size() < 2; });
    if (annotated_.empty()) return;
    for (const PropagationEdge& e : edges) {
      const std::set<size_t> all = classes.of_edge(e);
      for (const auto& [axis, its] : annotated_) {
        std::set<size_t> met;
        std::copy_if(all.begin(), all.end(), std::inserter(met, met.end()),
                     [&its = its](size_t c) { return its.contains(c); });
        for (const size_t a : met) {
          for (const size_t b : met) {
            if (a != b) conflicts_[axis][a].insert(b);
          }
        }
      }
    }
  }

  // A class counts as much as the computed values that it cuts.
  void weigh(const DimClasses& classes) {
    for (size_t v = 0; v < fusion_.values.size(); ++v) {
      if (!fusion_.values[v].defined_by.valid()) continue;
      const Shape& shape = shape_of(fusion_.values[v].type);
      const double elems = largest_local_elems(Mesh(), shape, Sharding());
      for (size_t d = 0; d < shape.size(); ++d) weight_[classes.of(v, d)] += elems;
    }
  }

  // For each of the most important classes, it and all others that meet none of the set.
  std::vector<std::set<size_t>> sets_to_try(const Conflicts& conflicts) const {
    std::vector<size_t> order;
    for (const auto& [c, met] : conflicts) order.push_back(c);
    const auto weight = [&](size_t c) {
      const auto at = weight_.find(c);
      return at == weight_.end() ? 0.0 : at->second;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return weight(a) > weight(b); });
    std::vector<std::set<size_t>> out;
    for (const size_t first : order) {
      if (out.size() == kMaxHomesTried) break;
      std::set<size_t> homes = {first};
      std::set<size_t> met = conflicts.at(first);
      for (const size_t c : order) {
        if (met.contains(c) || !homes.insert(c).second) continue;
        met.insert(conflicts.at(c).begin(), conflicts.at(c).end());
      }
      if (std::find(out.begin(), out.end(), homes) == out.end()) out.push_back(std::move(homes));
    }
    return out;
  }

  // The first ops as a fusion without results; what others use of them is kept.
  void take_first_ops() {
    Function& f = first_ops_.emplace(fusion_);
    std::vector<InstrId>& body = f.regions[f.body.index].instructions;
    std::vector<bool> is_used(f.values.size(), false);
    for (size_t i = kMaxOpsTried; i < body.size(); ++i) {
      for (const Operand& o : f.instr(body[i]).operands) {
        if (o.value.valid()) is_used[o.value.index] = true;
      }
    }
    const InstrId end = body.back();
    body.resize(kMaxOpsTried);
    for (const InstrId id : body) {
      for (const ValueId r : f.instr(id).results) {
        if (is_used[r.index]) keep_.push_back(f.value(r).name);
      }
    }
    body.push_back(end);
    f.instr(end).operands.clear();
    f.results.clear();
    drop_later_values(f);
  }

  // Values and instructions that the body no longer mentions would be copied for every price. Ids
  // must stay, so only those after the last mentioned one go.
  static void drop_later_values(Function& f) {
    size_t values = 0;
    const auto mention = [&](ValueId v) {
      if (v.valid()) values = std::max<size_t>(values, v.index + 1);
    };
    for (const Parameter& p : f.params) mention(p.value);
    size_t instructions = 0;
    std::vector<InstrId>& body = f.region(f.body).instructions;
    for (const InstrId id : body) {
      for (const Operand& o : f.instr(id).operands) mention(o.value);
      for (const ValueId r : f.instr(id).results) mention(r);
      if (id != body.back()) instructions = std::max<size_t>(instructions, id.index + 1);
    }
    f.values.resize(values);
    const auto is_later = [&](const Value& v) {
      return v.defined_by.valid() && v.defined_by.index >= instructions;
    };
    if (body.back().index < instructions || std::any_of(f.values.begin(), f.values.end(), is_later))
      return;
    const InstrId end(static_cast<uint32_t>(instructions));
    f.instructions[end.index] = Instruction(f.instr(body.back()));
    f.instructions.resize(instructions + 1);
    body.back() = end;
  }

  Expected<Price> price_with(const AxisHomes& homes) {
    Explanation unused;
    HOSTIR_ASSIGN_OR_RETURN(Function cut, propagate(program_, first_ops_ ? *first_ops_ : fusion_,
                                                    mesh_, unused, homes));
    HOSTIR_ASSIGN_OR_RETURN(const Resharded made, insert_reshards(program_, std::move(cut), moves_,
                                                                  keep_, unused, homes));
    return price(program_, made.function, moves_);
  }

  const Program& program_;
  const Function& fusion_;
  const std::string& mesh_;
  const Mesh& used_;
  MeshMoves& moves_;
  std::vector<std::string> keep_;
  std::optional<Function> first_ops_;                  // if the fusion has too many to try them all
  std::map<std::string, std::set<size_t>> annotated_;  // by axis: classes
  std::map<std::string, Conflicts> conflicts_;         // by axis
  std::map<size_t, double> weight_;                    // by class
};

}  // namespace

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

Expected<AxisHomes> cheapest_homes(const Program& program, const Function& fusion,
                                   const std::string& mesh, MeshMoves& moves,
                                   std::span<const std::string> keep) {
  const std::vector<std::string> used = value_meshes(fusion).used;
  if (used.size() != 1 || has_priorities(fusion)) return AxisHomes();
  return HomeSearch(program, fusion, mesh, *program.find_mesh(used.front()), moves, keep).run();
}

}  // namespace hostir
