#include "hostir/passes/homes/home_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hostir/ops/value_meshes.h"
#include "hostir/passes/homes/fusion_price.h"
#include "hostir/passes/homes/layer_sample.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/propagate/propagate.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "hostir/support/union_find.h"

namespace hostir {

namespace {

constexpr size_t kMaxHomesTried = 3;      // per axis
constexpr size_t kMaxOpsTried = 400;      // a longer fusion is tried as a sample of its layers
constexpr size_t kMaxOpsOfSample = 1200;  // in whole layers

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
    sets_ = UnionFind(dims);
    for (const PropagationEdge& e : edges) join(e);
  }

  size_t of(size_t tensor, size_t dim) const { return sets_.root(first_[tensor] + dim); }

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
    std::vector<size_t> seen(static_cast<size_t>(e.rule->factor_count()), SIZE_MAX);
    for (size_t t = 0; t < e.tensors.size(); ++t) {
      const ShardingRule::TensorFactors& factors = e.factors_of(t);
      for (size_t d = 0; d < factors.size(); ++d) {
        if (factors[d].empty()) continue;
        // Several factors are one dimension merged from several: the major one is cut first.
        size_t& first = seen[static_cast<size_t>(factors[d].front())];
        const size_t mine = of(e.tensors[t], d);
        if (first == SIZE_MAX) first = mine;
        sets_.unite(mine, first);
      }
    }
    for (const ShardingRule::Shift& shift : e.rule->shifts) {
      const size_t from = seen[static_cast<size_t>(shift.from)];
      const size_t to = seen[static_cast<size_t>(shift.to)];
      if (from != SIZE_MAX && to != SIZE_MAX) sets_.unite(from, to);
    }
  }

  std::vector<size_t> first_;  // by tensor: its first dimension in sets_
  UnionFind sets_;             // of dimensions
};

class HomeSearch {
 public:
  // `used`: the only mesh that the fusion names; `mesh` may have more ranks.
  HomeSearch(const Program& program, const Function& fusion,
             const std::vector<PropagationEdge>& edges, const std::string& mesh, const Mesh& used,
             MeshMoves& moves, std::span<const ValueId> kept, Alternatives alternatives)
      : program_(program),
        fusion_(fusion),
        edges_(edges),
        mesh_(mesh),
        used_(used),
        moves_(moves),
        keep_(kept.begin(), kept.end()),
        alternatives_(alternatives) {}

  Expected<ChosenHomes> run() {
    const DimClasses classes(fusion_, edges_);
    note_annotations(classes);
    note_conflicts(classes);
    ChosenHomes best;
    if (conflicts_.empty()) return best;
    weigh(classes);
    if (body_of(fusion_).size() > kMaxOpsTried) HOSTIR_TRY(take_sample());
    HOSTIR_ASSIGN_OR_RETURN(best.tried, with(best.homes));
    Price least = price(*best.tried);
    std::map<std::string, std::vector<AxisHomes::Dim>> chosen;  // by axis, in the whole fusion
    for (const auto& [axis, conflicts] : conflicts_) {
      const AxisHomes before = best.homes;
      std::vector<Tried> tries = {{"each op on its own", least}};
      size_t won = 0;
      for (const std::set<size_t>& homes : sets_to_try(conflicts)) {
        AxisHomes more = before;
        const std::vector<AxisHomes::Dim> members = classes.members(homes);
        more.add(axis, in_sample(members));
        HOSTIR_ASSIGN_OR_RETURN(TriedHomes tried, with(more));
        const Price its = price(tried);
        tries.push_back({text_of(axis, members), its});
        if (!its.is_worth_more_than(least)) continue;
        won = tries.size() - 1;
        best.homes = std::move(more);
        best.tried = std::move(tried);
        chosen[axis] = members;
        least = its;
      }
      best.explanation.push_back(explained(axis, tries, won));
    }
    if (!sample_) return best;
    best.homes = {};
    best.tried.reset();
    for (const auto& [axis, members] : chosen) best.homes.add(axis, members);
    return best;
  }

 private:
  using Conflicts = std::map<size_t, std::set<size_t>>;  // by class: the other classes that occur
                                                         // in one op with it

  struct Tried {
    std::string what;
    Price price;
  };

  // `%x dimension 0, %y dimension 0 and 3 more`.
  std::string text_of(const std::string& axis, const std::vector<AxisHomes::Dim>& members) const {
    constexpr size_t kMostNamed = 3;
    AxisHomes homes;
    homes.add(axis, members);
    std::string out;
    size_t count = 0;
    const NamedHomes named = homes.named(fusion_);
    for (const auto& [name, dim] : named.at(axis)) {
      if (count++ >= kMostNamed) continue;
      out += fmt::format("{}{} dimension {}", out.empty() ? "" : ", ",
                         name.empty() ? "a result" : "%" + name, dim);
    }
    if (count > kMostNamed) out += fmt::format(" and {} more", count - kMostNamed);
    return out.empty() ? "dimensions of inner values" : out;
  }

  const char* tried_on() const {
    if (!sample_) return "the fusion";
    return tensor_of_.empty() ? "its beginning" : "a sample of layers";
  }

  ExplainRecord explained(const std::string& axis, const std::vector<Tried>& tries,
                          size_t won) const {
    const Price& best = tries[won].price;
    const auto cost = [](const Price& p) {
      return fmt::format("{}, {} over a link", time_text(p.ns), bytes_text(std::llround(p.bytes)));
    };
    ExplainRecord out{
        .value = {},
        .what = "axis " + axis,
        .sentence = fmt::format(
            "the given shardings cut several dimensions over it; an op in which these "
            "meet {}; {} then takes about {}, without overlap,{}",
            won == 0 ? "decides by its own cost" : "cuts " + tries[won].what, tried_on(),
            cost(best), costed_on(moves_.machine().name, moves_.on(mesh_).cost().scale())),
        .from = {},
        .pass = "axes"};
    if (alternatives_ == Alternatives::kOmitted) return out;
    for (const Tried& t : tries) {
      const char* why = t.price.ns >= best.ns        ? ""
                        : t.price.bytes > best.bytes ? "saves too little for more bytes"
                                                     : "saves too little";
      out.lost.push_back({t.what, t.price.ns, t.price.bytes, cost(t.price), why});
    }
    out.lost = cheapest_few(std::move(out.lost), tries[won].what);
    return out;
  }

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

  void note_conflicts(const DimClasses& classes) {
    std::erase_if(annotated_, [](const auto& each) { return each.second.size() < 2; });
    if (annotated_.empty()) return;
    for (const PropagationEdge& e : edges_) {
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

  // For each of the most important classes: the class, and all others that meet no class of the
  // set.
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
      add_once(out, std::move(homes));
    }
    return out;
  }

  Expected<void> take_sample() {
    auto layers = sample_of_layers(fusion_);
    if (!layers || body_of(layers->function).size() > kMaxOpsOfSample) return take_first_ops();
    sample_ = std::move(layers->function);
    tensor_of_ = std::move(layers->tensor_of);
    HOSTIR_ASSIGN_OR_RETURN(sample_edges_, propagation_edges(program_, *sample_));
    return {};
  }

  std::vector<AxisHomes::Dim> in_sample(std::vector<AxisHomes::Dim> dims) const {
    if (tensor_of_.empty()) return dims;
    for (AxisHomes::Dim& dim : dims) dim.tensor = tensor_of_[dim.tensor];
    std::erase_if(dims, [](const auto& dim) { return dim.tensor == LayerSample::kNotThere; });
    return dims;
  }

  // The first ops as a fusion without results. Values that later ops use are kept.
  Expected<void> take_first_ops() {
    Function& f = sample_.emplace(fusion_);
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
        if (is_used[r.index]) keep_.push_back(f.value(r).origin.value);
      }
    }
    body.push_back(end);
    f.instr(end).operands.clear();
    f.results.clear();
    drop_later_values(f);
    HOSTIR_ASSIGN_OR_RETURN(sample_edges_, propagation_edges(program_, f));
    return {};
  }

  // Unused values and instructions would be copied for every price. Ids must not change, so only
  // those after the last used one are dropped.
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

  Expected<TriedHomes> with(const AxisHomes& homes) {
    TriedHomes out;
    out.propagated =
        propagate(program_, sample_ ? *sample_ : fusion_, sample_ ? sample_edges_ : edges_, mesh_,
                  moves_, out.propagation, homes);
    HOSTIR_ASSIGN_OR_RETURN(
        out.resharded,
        insert_reshards(program_, Function(out.propagated), moves_, keep_, out.resharding, homes,
                        sample_ ? Alternatives::kOmitted : alternatives_));
    return out;
  }

  Price price(const TriedHomes& tried) {
    return price_of(program_, tried.resharded.function, moves_);
  }

  const Program& program_;
  const Function& fusion_;
  const std::vector<PropagationEdge>& edges_;
  const std::string& mesh_;
  const Mesh& used_;
  MeshMoves& moves_;
  std::vector<ValueId> keep_;
  const Alternatives alternatives_;
  std::optional<Function> sample_;                     // if the fusion has too many to try them all
  std::vector<PropagationEdge> sample_edges_;          // of sample_
  std::vector<size_t> tensor_of_;                      // LayerSample::tensor_of; empty: the same
  std::map<std::string, std::set<size_t>> annotated_;  // by axis: classes
  std::map<std::string, Conflicts> conflicts_;         // by axis
  std::map<size_t, double> weight_;                    // by class
};

}  // namespace

AxisHomes homes_like(const NamedHomes& homes, const Function& fusion,
                     const std::vector<PropagationEdge>& edges) {
  AxisHomes out;
  if (homes.empty()) return out;
  const DimClasses classes(fusion, edges);
  for (const auto& [axis, dims] : homes) {
    std::set<size_t> its;
    const auto add = [&, &dims = dims](const std::string& name, size_t tensor) {
      for (auto at = dims.lower_bound({name, 0}); at != dims.end() && at->first == name; ++at)
        its.insert(classes.of(tensor, at->second));
    };
    for (const Parameter& p : fusion.params) add(fusion.value(p.value).name, p.value.index);
    for (size_t r = 0; r < fusion.results.size(); ++r)
      add(fusion.results[r].name, fusion.values.size() + r);
    out.add(axis, classes.members(its));
  }
  return out;
}

Expected<ChosenHomes> cheapest_homes(const Program& program, const Function& fusion,
                                     const std::vector<PropagationEdge>& edges,
                                     const std::string& mesh, MeshMoves& moves,
                                     std::span<const ValueId> keep, Alternatives alternatives) {
  const std::vector<std::string> used = value_meshes(fusion).used;
  if (used.size() != 1 || has_priorities(fusion)) return ChosenHomes();
  return HomeSearch(program, fusion, edges, mesh, *program.find_mesh(used.front()), moves, keep,
                    alternatives)
      .run();
}

}  // namespace hostir
