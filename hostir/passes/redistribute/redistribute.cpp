#include "hostir/passes/redistribute/redistribute.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "hostir/passes/redistribute/waypoints.h"
#include "hostir/support/lists.h"
#include "hostir/support/text_numbers.h"

namespace hostir {

namespace {

constexpr double kStepNs = 1;       // added per step, so that the shorter of two equal plans wins
constexpr size_t kMaxVisited = 96;  // the search stops proposing shardings beyond this number
constexpr double kWorthMoreCollectives = 1.1;  // how many times cheaper, per further collective
constexpr double kWorthWithoutBytes = 1.2;     // at most, if no more bytes move
constexpr double kWorthHelp = 1.1;             // the same among ranks with replicas

// The same axes cut the same dimensions, into parts of equal size.
Sharding in_parts(Sharding s) {
  for (DimSharding& d : s.dims) d.clear_blocks();
  return s;
}

class Search {
 public:
  using Node = StepGraph::Node;

  Search(StepGraph& graph, StepGraph::Shaped& steps, const Mesh& mesh, Node from, Node to)
      : graph_(graph), steps_(steps), mesh_(mesh), target_(to) {
    visited_.push_back({from, 0, 0, 0, false});
  }

  // The cheapest path. `known_ns`: the cost of a plan to beat: searches only for a cheaper one,
  // which may also pass through `placings`.
  std::optional<double> run(std::optional<double> known_ns = std::nullopt,
                            const std::vector<Sharding>& placings = {}) {
    for (;;) {
      const std::optional<size_t> next = cheapest_open();
      if (!next) return std::nullopt;
      if (known_ns && visited_[*next].cost_ns >= *known_ns) return std::nullopt;
      const Node at = visited_[*next].node;
      if (at == target_) {
        trace(*next);
        return visited_[*next].cost_ns;
      }
      visited_[*next].done = true;
      if (visited_.size() > kMaxVisited) continue;
      if (has_blocks(graph_.sharding(at)) || has_blocks(graph_.sharding(target_))) {
        for (const Node to : past_blocks(at)) reach(*next, to);
        continue;
      }
      for (const Node to : graph_.waypoints(at, target_)) reach(*next, to);
      if (placings.empty()) continue;
      for (const Node to : placed(graph_.sharding(at), placings)) reach(*next, to);
    }
  }

  // Bars the step from `from` to `to`.
  void leave_out(Node from, Node to) { barred_ = {from, to}; }

  // The shardings along the path that was found, from the source to the target.
  const std::vector<Node>& path() const { return path_; }

 private:
  struct Visited {
    Node node;
    double cost_ns;
    size_t steps;
    size_t before;  // predecessor in visited_
    bool done;
  };

  static double rank_of(const Visited& v) {
    return v.cost_ns + kStepNs * static_cast<double>(v.steps);
  }

  std::optional<size_t> cheapest_open() const {
    std::optional<size_t> best;
    for (size_t i = 0; i < visited_.size(); ++i) {
      if (visited_[i].done) continue;
      if (!best || rank_of(visited_[i]) < rank_of(visited_[*best])) best = i;
    }
    return best;
  }

  // One step leads to a sharding in blocks and one step away from it: to the target, or to the
  // usual parts. Axes that keep runs of elements together may also stay in their dimension.
  std::vector<Node> past_blocks(Node from) {
    const Sharding& at = graph_.sharding(from);
    std::vector<Node> out = {target_};
    add_in_units(from, out);
    if (has_blocks(at)) {
      out.push_back(graph_.node(in_parts(at)));
      return out;
    }
    const Sharding entry = in_parts(graph_.sharding(target_));
    if (at.is_partial()) {
      Sharding partial = entry;
      partial.unreduced = at.unreduced;
      partial.unreduced_kind = at.unreduced_kind;
      out.push_back(graph_.node(canonical(mesh_, std::move(partial))));
    }
    if (at != entry) {
      const std::vector<Node>& on_the_way = graph_.waypoints(from, graph_.node(entry));
      out.insert(out.end(), on_the_way.begin(), on_the_way.end());
    }
    return out;
  }

  // The waypoints between the usual parts, with the units of the source and the target.
  void add_in_units(Node from, std::vector<Node>& out) {
    const Sharding& at = graph_.sharding(from);
    const Sharding& target = graph_.sharding(target_);
    const auto has_units = [](const Sharding& s) {
      return std::any_of(s.dims.begin(), s.dims.end(),
                         [](const DimSharding& d) { return d.unit != 1; });
    };
    if (!has_units(at) && !has_units(target)) return;
    const std::vector<Node> plain =
        graph_.waypoints(graph_.node(in_parts(at)), graph_.node(in_parts(target)));
    for (const Node node : plain) {
      Sharding s = graph_.sharding(node);
      for (size_t d = 0; d < s.dims.size(); ++d) {
        DimSharding& dim = s.dims[d];
        const auto continues = [&](const DimSharding& other) {
          return !other.axes.empty() &&
                 (is_prefix(mesh_, dim.axes, other.axes) || is_prefix(mesh_, other.axes, dim.axes));
        };
        if (dim.axes.empty()) continue;
        if (dim.axes == target.dims[d].axes || !continues(at.dims[d])) {
          dim.unit = continues(target.dims[d]) ? target.dims[d].unit : 1;
        } else {
          dim.unit = at.dims[d].unit;
        }
      }
      if (has_units(s)) out.push_back(graph_.node(s));
    }
  }

  // The placings as nodes. A partial value keeps its reduction.
  const std::vector<Node>& placed(const Sharding& at, const std::vector<Sharding>& placings) {
    const Reduction kind = at.unreduced_kind;
    const auto [found, is_new] =
        placed_.try_emplace(at.is_partial() ? std::optional(kind) : std::nullopt);
    if (is_new) {
      for (Sharding to : placings) {
        if (to.is_partial() && at.is_partial()) to.unreduced_kind = kind;
        found->second.push_back(graph_.node(to));
      }
    }
    return found->second;
  }

  void reach(size_t by, Node to) {
    if (barred_ && *barred_ == std::pair(visited_[by].node, to)) return;
    const auto known = std::find_if(visited_.begin(), visited_.end(),
                                    [&](const Visited& v) { return v.node == to; });
    if (known != visited_.end() && known->done) return;
    const std::optional<double> step_ns = steps_.step_ns(visited_[by].node, to);
    if (!step_ns) return;
    const Visited v{to, visited_[by].cost_ns + *step_ns, visited_[by].steps + 1, by, false};
    if (known == visited_.end()) {
      visited_.push_back(v);
    } else if (rank_of(v) < rank_of(*known)) {
      *known = v;
    }
  }

  void trace(size_t end) {
    path_.clear();
    for (size_t i = end; i != 0; i = visited_[i].before) path_.push_back(visited_[i].node);
    path_.push_back(visited_.front().node);
    std::reverse(path_.begin(), path_.end());
  }

  StepGraph& graph_;
  StepGraph::Shaped& steps_;
  const Mesh& mesh_;
  const Node target_;
  std::vector<Visited> visited_;
  std::vector<Node> path_;
  std::optional<std::pair<Node, Node>> barred_;
  std::map<std::optional<Reduction>, std::vector<Node>>
      placed_;  // by the reduction of a partial value
};

// The cheapest plan that the search finds.
std::optional<Redistribution> found_by(Search search, const StepGraph& graph, const Mesh& mesh,
                                       const Shape& shape,
                                       std::optional<double> known_ns = std::nullopt,
                                       const std::vector<Sharding>& placings = {}) {
  const std::optional<double> ns = search.run(known_ns, placings);
  if (!ns) return std::nullopt;
  Redistribution out{{}, *ns};
  const std::vector<StepGraph::Node>& path = search.path();
  for (size_t i = 1; i < path.size(); ++i)
    out.steps.push_back(
        *single_step(mesh, shape, graph.sharding(path[i - 1]), graph.sharding(path[i])));
  return out;
}

bool crosses_hosts(const StepCost& cost, const Redistribution& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const RedistributeStep& s) {
    return s.kind != StepKind::kLocal && cost.place_of(s.axes).hosts > 1;
  });
}

// On one host, one step over one axis cannot be improved, and neither can a permute, which moves
// every box once. But if some ranks have less than others, it may be cheaper to spread the boxes
// first.
bool may_improve(const StepCost& cost, const Mesh& mesh, const Shape& shape, const Sharding& from,
                 const Redistribution& plan) {
  const RedistributeStep& first = plan.steps.front();
  if (plan.steps.size() > 1 || crosses_hosts(cost, plan)) return true;
  if (first.axes.size() < 2 || first.kind != StepKind::kPermute) return first.axes.size() > 1;
  const auto parts = static_cast<double>(part_count(mesh, dimension_axes(mesh, from)));
  const double whole = largest_local_elems(mesh, shape, Sharding());
  return largest_local_elems(mesh, shape, from) * parts > whole;
}

// The axes of one host over which the value is replicated, if the plan crosses hosts. If each rank
// along such an axis moves only a part, fewer bytes cross, and a gather on the host completes the
// value.
AxisList helping_axes(const StepCost& cost, const Mesh& mesh, const Sharding& from,
                      const Sharding& to, const Redistribution& plan) {
  AxisList out;
  if (!crosses_hosts(cost, plan)) return out;
  AxisList used = joined(mesh, from.unreduced, to.unreduced);
  for (const Sharding* s : {&from, &to}) {
    const AxisList cuts = dimension_axes(mesh, *s);
    used.insert(used.end(), cuts.begin(), cuts.end());
  }
  for (const MeshAxis& axis : mesh.axes) {
    const AxisList one = {{axis.name, 1, 0}};
    if (axis.size > 1 && !overlap(mesh, one, used) && cost.place_of(one).hosts == 1)
      out.push_back(one.front());
  }
  return out;
}

double bytes_moved(const StepCost& cost, const TensorType& type, const Sharding& from,
                   const Redistribution& plan) {
  double out = 0;
  const Sharding* at = &from;
  for (const RedistributeStep& step : plan.steps) {
    out += cost.step_bytes(type, *at, step);
    at = &step.to;
  }
  return out;
}

// Each additional collective of the other plan must pay for itself; if the plan moves no more
// bytes, it is enough if a few do.
bool is_worth_it(const StepCost& cost, const TensorType& type, const Sharding& from,
                 const Redistribution& other, const Redistribution& known) {
  const auto more =
      static_cast<double>(other.collectives()) - static_cast<double>(known.collectives());
  double worth = std::pow(kWorthMoreCollectives, std::max(0.0, more));
  if (worth > kWorthWithoutBytes &&
      bytes_moved(cost, type, from, other) <= bytes_moved(cost, type, from, known)) {
    worth = kWorthWithoutBytes;
  }
  return other.cost_ns * worth < known.cost_ns;
}

// The plan that always works: reduce in place, gather everything, slice, become partial.
Redistribution plan_by_replicating(const StepCost& cost, const Mesh& mesh, const TensorType& type,
                                   const Sharding& from, const Sharding& to) {
  Redistribution out;
  Sharding at = from;
  const auto pass = [&](Sharding next) {
    next = canonical(mesh, std::move(next));
    auto step = single_step(mesh, type.shape, at, next);
    if (!step) return;
    out.cost_ns += cost.step_ns(type, at, *step);
    at = step->to;
    out.steps.push_back(std::move(*step));
  };
  Sharding whole = from;
  whole.unreduced.clear();
  pass(whole);
  for (DimSharding& d : whole.dims) d = {};
  pass(whole);
  Sharding cut = to;
  cut.unreduced.clear();
  pass(cut);
  pass(to);
  return out;
}

void append_shape(const TensorType& type, std::string& key) {
  append_number(type.dtype, key);
  for (const IndexExpr& size : type.shape) {
    if (size.is_const()) append_number(size.value(), key);
    if (!size.is_const()) key += "?" + size.to_string() + ",";
  }
  key += ':';
}

// Equal for shardings that are equal when effective().
void append_sharding(const Mesh& mesh, const Sharding& sharding, std::string& key) {
  const auto is_whole = [](const AxisRef& a) { return a.whole(); };
  bool whole = std::all_of(sharding.unreduced.begin(), sharding.unreduced.end(), is_whole);
  for (const DimSharding& d : sharding.dims)
    whole = whole && !d.has_blocks() && std::all_of(d.axes.begin(), d.axes.end(), is_whole);
  if (!whole) {
    const Sharding same = effective(mesh, sharding);
    key += "!" + same.dims_to_string();
    return;
  }
  const auto append = [&](const AxisRef& a) {
    if (mesh.axis_size(a) > 1) key += a.name + ",";
  };
  for (const DimSharding& d : sharding.dims) {
    std::for_each(d.axes.begin(), d.axes.end(), append);
    key += ';';
  }
  const size_t cuts = key.size();
  for (const MeshAxis& axis : mesh.axes) {  // in mesh order: their own order does not matter
    const AxisRef same{axis.name, 1, 0};
    if (contains(sharding.unreduced, same)) {
      append(same);
    }
  }
  if (key.size() > cuts) append_number(sharding.unreduced_kind, key);
  key += '|';
}

}  // namespace

size_t Redistribution::collectives() const {
  return static_cast<size_t>(
      std::count_if(steps.begin(), steps.end(), [](const RedistributeStep& s) {
        return s.kind != StepKind::kLocal && s.kind != StepKind::kRelabel;
      }));
}

const Redistribution& Redistributor::plan(const TensorType& type, const Sharding& from,
                                          const Sharding& to) {
  std::string key;
  append_shape(type, key);
  const size_t shape_end = key.size();
  append_sharding(mesh_, from, key);
  append_sharding(mesh_, to, key);
  const auto [at, is_new] = plans_.try_emplace(std::move(key));
  if (!is_new) return at->second;
  const Sharding source = effective(mesh_, from);
  const Sharding target = effective(mesh_, to);
  if (source == target) return at->second;
  StepGraph::Shaped& steps = graph_.shaped(type, at->first.substr(0, shape_end));
  const Search search(graph_, steps, mesh_, graph_.node(source), graph_.node(target));
  auto found = found_by(search, graph_, mesh_, type.shape);
  std::vector<AxisList> others;  // axes to place in addition to those of the two shardings
  if (found && !has_blocks(source) && !has_blocks(target)) {
    if (may_improve(cost_, mesh_, type.shape, source, *found)) others.emplace_back();
    for (const AxisRef& axis : helping_axes(cost_, mesh_, source, target, *found))
      others.push_back({axis});
  }
  for (const AxisList& axes : others) {
    const std::vector<Sharding> placings = every_placing(mesh_, source, target, axes);
    if (placings.empty()) continue;
    auto other = found_by(search, graph_, mesh_, type.shape, found->cost_ns, placings);
    const double worth = axes.empty() ? 1 : kWorthHelp;
    if (other && other->cost_ns * worth < found->cost_ns &&
        is_worth_it(cost_, type, source, *other, *found)) {
      found = std::move(other);
    }
  }
  at->second = found ? std::move(*found) : plan_by_replicating(cost_, mesh_, type, source, target);
  return at->second;
}

std::vector<Redistribution> Redistributor::others(const TensorType& type, const Sharding& from,
                                                  const Sharding& to) {
  const Sharding source = effective(mesh_, from);
  const Sharding target = effective(mesh_, to);
  std::vector<Redistribution> out;
  if (source == target) return out;
  std::string key;
  append_shape(type, key);
  StepGraph::Shaped& steps = graph_.shaped(type, key);
  const std::vector<Sharding> placings = has_blocks(source) || has_blocks(target)
                                             ? std::vector<Sharding>()
                                             : every_placing(mesh_, source, target, {});
  StepGraph::Node at = graph_.node(source);
  for (const RedistributeStep& step : plan(type, from, to).steps) {
    Search search(graph_, steps, mesh_, graph_.node(source), graph_.node(target));
    search.leave_out(at, graph_.node(step.to));
    at = graph_.node(step.to);
    auto found = found_by(std::move(search), graph_, mesh_, type.shape, std::nullopt, placings);
    if (found) out.push_back(std::move(*found));
  }
  out.push_back(plan_by_replicating(cost_, mesh_, type, source, target));
  return out;
}

}  // namespace hostir
