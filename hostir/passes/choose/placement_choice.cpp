#include "hostir/passes/choose/placement_choice.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "hostir/passes/choose/factor_moves.h"
#include "hostir/passes/host/task_times.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

constexpr double kEqualNs = 1;             // costs that differ by less count as equal
constexpr double kWorthRepeating = 1.05;   // how many times cheaper a cut into fewer parts must be
constexpr double kWorthCollectives = 1.1;  // the same for more collectives
// How many times cheaper it must be to gather the operands of a reduction than to combine its
// parts: an all_reduce takes up to twice the steps, but combine() lets it share its call with
// others.
constexpr double kWorthGathering = 2;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr size_t kMaxOrderedTensors = 4;
constexpr size_t kMaxAxesTried = 2;  // tried in every place of a contraction; more would be slow

// Extends the choice `into` with one tensor's axes where they continue the chosen ones.
void merge(const Mesh& mesh, const ShardingRule& rule, const FactorCuts& from, FactorCuts& into) {
  for (size_t f = 0; f < into.size(); ++f) {
    const int64_t size = known_size(rule, static_cast<int>(f));
    if (!is_prefix(mesh, into[f], from[f], size)) continue;
    const AxisList more =
        prefix_avoiding(mesh, suffix_after(mesh, from[f].axes, into[f].axes), axes_of(into));
    if (more.empty()) continue;
    into[f] = cut_over(mesh, joined(mesh, into[f].axes, more), from[f].unit, size);
  }
}

// The axes that cut any of the tensors; none if two of them overlap without being equal.
AxisList axes_of_all(const Mesh& mesh, const std::vector<FactorCuts>& tensors) {
  AxisList out;
  for (const FactorCuts& tensor : tensors) {
    for (const AxisRef& axis : axes_of(tensor)) {
      if (contains(out, axis)) continue;
      if (!can_stand_together(mesh, {axis}, out)) return {};
      out.push_back(axis);
    }
  }
  return out;
}

// All choices in which each axis cuts some factor or none, with axes of one factor in either order.
std::vector<FactorCuts> every_place(const Mesh& mesh, const AxisList& axes, size_t factors) {
  std::vector<FactorCuts> out = {FactorCuts(factors)};
  for (const AxisRef& axis : axes) {
    const size_t before = out.size();
    for (size_t c = 0; c < before; ++c) {
      for (size_t f = 0; f < factors; ++f) {
        FactorCuts minor = out[c];
        minor[f].axes = joined(mesh, minor[f].axes, {axis});
        FactorCuts major = out[c];
        major[f].axes = joined(mesh, {axis}, major[f].axes);
        if (major != minor) out.push_back(std::move(major));
        out.push_back(std::move(minor));
      }
    }
  }
  return out;
}

// The choices in which the axes of factors that must be whole cut another factor instead: one
// exchange then keeps all parts busy, where a gather would make every rank do the same.
std::vector<FactorCuts> with_whole_factors_moved(const Mesh& mesh, const ShardingRule& rule,
                                                 const FactorCuts& axes) {
  AxisList moving;
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (rule.must_replicate(f)) moving = joined(mesh, moving, axes[static_cast<size_t>(f)].axes);
  }
  std::vector<FactorCuts> out;
  if (moving.empty()) return out;
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (rule.must_replicate(f)) continue;
    FactorCuts other = axes;
    for (int g = 0; g < rule.factor_count(); ++g) {
      if (rule.must_replicate(g)) other[static_cast<size_t>(g)] = {};
    }
    AxisList& target = other[static_cast<size_t>(f)].axes;
    target = joined(mesh, target, moving);
    out.push_back(std::move(other));
  }
  return out;
}

// True if an earlier operand is the same value under the same sharding.
bool is_repeated(const Instruction& i, const std::vector<Sharding>& operands, size_t operand) {
  for (size_t o = 0; o < operand; ++o) {
    if (i.operands[o].value == i.operands[operand].value && operands[o] == operands[operand]) {
      return true;
    }
  }
  return false;
}

}  // namespace

OpChooser::OpChooser(const Program& program, const Function& source, Redistributor& moves,
                     const std::vector<RequestedSharding>& requests, const ValueVersions& versions,
                     const AxisHomes& homes, KnownChoices& known)
    : program_(program),
      source_(source),
      moves_(moves),
      mesh_(moves.mesh()),
      requests_(requests),
      versions_(versions),
      homes_(homes),
      known_(known),
      keys_(source, requests, versions, users_, homes, known.numbers) {}

Sharding OpChooser::sharding_of_operand(const Operand& o) const {
  const Version* v = versions_.primary(o.value);
  return v != nullptr ? v->sharding : requests_[o.value.index].sharding;
}

OpChooser::Candidates OpChooser::candidates(const Instruction& i, const ShardingRule& rule) const {
  const size_t count = i.operands.size() + i.results.size();
  const bool is_long = count > kMaxOrderedTensors && !has_compound(rule);
  std::vector<FactorCuts> seen;  // one per tensor, or of a long list each one that differs
  size_t t = 0;
  for (const Operand& o : i.operands) {
    const size_t operand = t++;
    // Each rank makes its own part of a constant, so the cut in another op suggests nothing.
    const bool is_free = versions_.is_source(o.value) && !requests_[o.value.index].fixed;
    FactorCuts cuts =
        is_free ? FactorCuts(rule.factor_sizes.size())
                : project(mesh_, rule, rule.operands[operand], sharding_of_operand(o).dims);
    // Most of a long list of operands (the results of a scan's passes) suggest the same.
    if (!is_long || !contains(seen, cuts)) seen.push_back(std::move(cuts));
  }
  for (size_t r = 0; r < i.results.size(); ++r) {
    const Sharding& request = requests_[i.results[r].index].sharding;
    seen.push_back(project(mesh_, rule, rule.results[r], request.dims));
  }
  std::vector<size_t> order(seen.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<size_t> tensors;
  for (const Operand& o : i.operands) tensors.push_back(o.value.index);
  for (const ValueId r : i.results) tensors.push_back(r.index);
  const std::vector<AxisList> barred = homes_.barred(rule, tensors);
  std::vector<FactorCuts> out;
  const auto add = [&](FactorCuts axes) {
    for (size_t f = 0; f < barred.size(); ++f) {
      const int64_t size = known_size(rule, static_cast<int>(f));
      axes[f] = prefix_avoiding(mesh_, axes[f], barred[f], size);
    }
    axes = legalized(mesh_, rule, std::move(axes));
    add_once(out, std::move(axes));
  };
  std::vector<FactorCuts> merged;  // most orders give the same
  const auto consider = [&](const std::vector<size_t>& by) {
    FactorCuts axes(rule.factor_sizes.size());
    for (const size_t s : by) merge(mesh_, rule, seen[s], axes);
    if (contains(merged, axes)) return;
    merged.push_back(axes);
    for (FactorCuts& other : with_whole_factors_moved(mesh_, rule, axes)) add(std::move(other));
    add(std::move(axes));
  };
  // Consider the result's request first, so that it wins ties.
  std::rotate(order.begin(), order.end() - static_cast<std::ptrdiff_t>(i.results.size()),
              order.end());
  const std::vector<size_t> first = order;
  consider(first);
  for (size_t s = 0; s < seen.size(); ++s) consider({s});
  if (count <= kMaxOrderedTensors) {
    std::sort(order.begin(), order.end());
    do consider(order);
    while (std::next_permutation(order.begin(), order.end()));
  } else {
    std::sort(order.begin(), order.end());
    consider(order);
  }
  consider({});
  for (size_t o = 0; o < i.operands.size() && has_compound(rule); ++o) {
    const Sharding held = sharding_of_operand(i.operands[o]);
    for (FactorCuts& other : with_lost_axes_moved(mesh_, rule, held, seen[o])) {
      add(std::move(other));
    }
  }
  const size_t suggested = out.size();
  const AxisList axes = axes_of_all(mesh_, seen);
  if (record(i.kind).shape == OpShape::kContraction && axes.size() <= kMaxAxesTried) {
    for (FactorCuts& each : every_place(mesh_, axes, rule.factor_sizes.size())) {
      add(std::move(each));
    }
  }
  return {std::move(out), suggested};
}

// A contraction with a further addend, such as a bias, is expanded: its product takes partial
// operands.
PartialUse OpChooser::use_of(const OpCall& call, size_t operand, Reduction kind) {
  const OpRecord& op = record(call.kind);
  const bool is_product =
      op.shape == OpShape::kContraction && op.needs_expand != nullptr && op.needs_expand(call);
  if (!is_product || kind != Reduction::kSum) return partial_use(call, operand, kind);
  return op.operands[slot_of(op, operand)].partial.sum;
}

std::optional<OpChooser::Partial> OpChooser::partial_operands(const Instruction& i) const {
  const BoundCall bound(program_, source_, i);
  Partial p;
  p.operands.assign(i.operands.size(), false);
  bool any = false;
  PartialUse rule = PartialUse::kReduceFirst;
  double kept = 0;  // elements of the operand that stays partial while the others are reduced
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const Sharding held = sharding_of_operand(i.operands[o]);
    if (!held.is_partial() || is_reduced_anyway(i.operands[o].value, held)) continue;
    const PartialUse use = use_of(bound.call, o, held.unreduced_kind);
    if (use == PartialUse::kReduceFirst) continue;
    const ValueId value = i.operands[o].value;
    const double elems = largest_local_elems(mesh_, tensor_type(source_, value).shape, held);
    const bool is_better = use == rule && use == PartialUse::kOthersWhole && elems > kept;
    if (!any || is_better) {
      p.operands.assign(i.operands.size(), false);
      any = true;
      rule = use;
      kept = elems;
      p.axes = held.unreduced;
      p.kind = held.unreduced_kind;
    } else if (use != rule || use == PartialUse::kOthersWhole || p.axes != held.unreduced ||
               p.kind != held.unreduced_kind) {
      continue;
    }
    p.operands[o] = true;
  }
  if (!any) return std::nullopt;
  if (rule != PartialUse::kAllAlike) return p;
  // The other operands with this mark are whole; they become partial without communication.
  for (size_t o = 0; o < i.operands.size(); ++o) {
    if (partial_use(bound.call, o, p.kind) == PartialUse::kAllAlike) p.operands[o] = true;
  }
  return p;
}

// A sum that some user needs whole in any case.
bool OpChooser::is_reduced_anyway(ValueId value, const Sharding& held) const {
  return held.unreduced_kind == Reduction::kSum && !requests_[value.index].returned_partial &&
         users_.reduced_anyway(value);
}

bool OpChooser::same_parts(const DimSharding& a, const DimSharding& b, int64_t size) const {
  for (int64_t p = 0; p < mesh_.size(); ++p) {
    if (part_of(mesh_, a, size, p) != part_of(mesh_, b, size, p)) return false;
  }
  return true;
}

// Cuts the smaller side of each shifted factor in blocks that lie where the parts of the other side
// do, so that every rank computes its result from its operand. False if that is impossible.
bool OpChooser::shift_parts(const Instruction& i, const ShardingRule& rule,
                            OpChoice& choice) const {
  for (const ShardingRule::Shift& s : rule.shifts) {
    const AxisList& axes = choice.axes[static_cast<size_t>(s.to)].axes;
    if (axes.empty()) continue;
    const auto from = dim_of_factor(rule.operands[s.operand], s.to);
    const auto to = dim_of_factor(rule.results.front(), s.to);
    if (!from || !to || i.results.size() != 1) return false;
    const ValueId operand = i.operands[s.operand].value;
    const IndexExpr before = tensor_type(source_, operand).shape[*from].simplified();
    const IndexExpr after = tensor_type(source_, i.results.front()).shape[*to].simplified();
    const IndexExpr by = s.by.simplified();
    if (!before.is_const() || !after.is_const() || !by.is_const()) return false;
    const bool moves_result =
        !s.mirrored && i.operands.size() == 1 && before.value() > after.value();
    const int64_t whole = moves_result ? before.value() : after.value();
    const int64_t parts = part_count(mesh_, axes);
    DimSharding cut = choice.results.front().dims[*to];
    if (s.wraps) {
      const int64_t part = whole / parts;
      if (whole == 0 || whole % parts != 0 || by.value() % part != 0 || cut.has_blocks())
        return false;
      choice.operands[s.operand].dims[*from].turn = (parts - by.value() / part % parts) % parts;
      continue;
    }
    DimSharding blocks = cut;
    blocks.block = std::max<int64_t>(1, units_in(units_in(whole, cut.unit), parts)) * cut.unit;
    blocks.unit = 1;
    if (!same_parts(cut, blocks, whole)) return false;  // parts of uneven parts differ in size
    blocks.origin = moves_result ? -by.value() : by.value();
    if (s.mirrored) {
      blocks.block = -blocks.block;
      ++blocks.origin;
    }
    const int64_t size = moves_result ? after.value() : before.value();
    if (same_parts(cut, blocks, size)) continue;
    if (moves_result) {
      choice.results.front().dims[*to] = blocks;
    } else {
      choice.operands[s.operand].dims[*from] = blocks;
    }
  }
  return true;
}

std::optional<OpChoice> OpChooser::evaluate(const Instruction& i, const ShardingRule& rule,
                                            const FactorCuts& wanted_axes, const Partial* partial,
                                            double limit_ns) const {
  OpChoice choice;
  choice.axes = wanted_axes;
  if (partial != nullptr) {
    for (FactorCut& cut : choice.axes) cut.axes = prefix_avoiding(mesh_, cut.axes, partial->axes);
    choice.axes = legalized(mesh_, rule, std::move(choice.axes));
  }
  for (const FactorCut& cut : choice.axes) choice.parts *= part_count(mesh_, cut.axes);
  const std::string& mesh = requests_[i.results.front().index].sharding.mesh;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    Sharding s{mesh, assemble(mesh_, rule, rule.operands[o], choice.axes), {}, {}, {}};
    s.unreduced_kind = Reduction::kSum;
    if (partial != nullptr && partial->operands[o]) {
      s.unreduced = partial->axes;
      s.unreduced_kind = partial->kind;
    }
    choice.operands.push_back(effective(mesh_, s));
  }
  std::vector<AxisList> reduced;  // by result
  for (size_t r = 0; r < i.results.size(); ++r)
    reduced.push_back(reduced_axes(mesh_, rule, choice.axes, r));
  if (std::ranges::any_of(reduced, [](const AxisList& axes) { return !axes.empty(); })) {
    const BoundCall bound(program_, source_, i);
    const OpRecord& op = record(i.kind);
    choice.expand = op.needs_expand != nullptr && op.needs_expand(bound.call);
    if (partial != nullptr && (choice.expand || partial->kind != rule.reduction_kind)) {
      return std::nullopt;
    }
  } else if (partial != nullptr && record(i.kind).shape == OpShape::kContraction) {
    const BoundCall bound(program_, source_, i);
    const OpRecord& op = record(i.kind);
    choice.expand = op.needs_expand != nullptr && op.needs_expand(bound.call);
  }
  for (size_t r = 0; r < i.results.size(); ++r) {
    Sharding s{
        mesh, assemble(mesh_, rule, rule.results[r], choice.axes), std::move(reduced[r]), {}, {}};
    s.unreduced_kind = rule.reduction_kind;
    if (partial != nullptr) {
      s.unreduced = joined(mesh_, s.unreduced, partial->axes);
      s.unreduced_kind = partial->kind;
    }
    choice.results.push_back(effective(mesh_, s));
  }
  if (!rule.shifts.empty() && !shift_parts(i, rule, choice)) return std::nullopt;
  // The work is compared first: it needs no plans, and rules out most bad candidates.
  choice.cost_ns = work_ns(i, choice);
  for (size_t o = 0; o < i.operands.size() && choice.cost_ns <= limit_ns; ++o) {
    if (is_repeated(i, choice.operands, o)) continue;
    choice.cost_ns += versions_.cost_ns(i.operands[o].value, choice.operands[o]);
    choice.collectives += versions_.collectives(i.operands[o].value, choice.operands[o]);
  }
  for (size_t r = 0; r < i.results.size() && choice.cost_ns <= limit_ns; ++r) {
    choice.cost_ns += result_cost(i.results[r], choice.results[r]);
    choice.collectives += collectives_after(i.results[r], choice.results[r]);
  }
  if (choice.cost_ns > limit_ns) return std::nullopt;
  return choice;
}

Expected<const OpChoice*> OpChooser::choose(const Instruction& instruction) {
  std::string key = keys_.key(instruction, kLookahead);
  const auto known = known_.by_key.find(key);
  if (known != known_.by_key.end()) return &known->second;
  HOSTIR_ASSIGN_OR_RETURN(OpChoice choice, choose_uncached(instruction));
  return &known_.by_key.emplace(std::move(key), std::move(choice)).first->second;
}

// A product that is wanted as a partial sum is computed separately from addends that count only
// once.
bool OpChooser::splits_sum(const Instruction& i) const {
  const OpRecord& op = record(i.kind);
  const RequestedSharding& request = requests_[i.results.front().index];
  if (op.shape != OpShape::kContraction || op.needs_expand == nullptr) return false;
  const BoundCall bound(program_, source_, i);
  return request.sharding.is_partial() && request.sharding.unreduced_kind == Reduction::kSum &&
         op.needs_expand(bound.call);
}

Expected<OpChoice> OpChooser::choose_uncached(const Instruction& instruction) const {
  if (splits_sum(instruction)) {
    OpChoice choice;
    choice.expand = true;
    return choice;
  }
  HOSTIR_ASSIGN_OR_RETURN(const ShardingRule rule, rule_of(program_, source_, instruction));
  const std::optional<Partial> partial = partial_operands(instruction);
  const Candidates all = candidates(instruction, rule);
  // How many times cheaper a choice with fewer parts must be.
  const bool reduces = record(instruction.kind).shape == OpShape::kReduction;
  const double repeating = reduces ? kWorthGathering : kWorthRepeating;
  const auto worth = [&](const OpChoice& more, const OpChoice& fewer) {
    const bool combines = reduces && more.results.front().is_partial() && fewer.collectives > 0;
    return fewer.cost_ns * (combines ? kWorthGathering : kWorthRepeating) < more.cost_ns;
  };
  const auto best_of = [&](const Partial* consumed) {
    // The cheapest of a range of candidates, if it is worth more than `known`.
    const auto cheapest_of = [&](size_t first, size_t end, const std::optional<OpChoice>& known) {
      double limit_ns = known ? known->cost_ns / kWorthRepeating : kNoLimit;
      std::map<int64_t, OpChoice, std::greater<>> cheapest;  // by parts, most first
      for (size_t c = first; c < end; ++c) {
        auto choice = evaluate(instruction, rule, all.axes[c], consumed, limit_ns);
        if (!choice) continue;
        const bool more = known && choice->collectives > known->collectives;
        if (more && choice->cost_ns * kWorthCollectives > known->cost_ns) continue;
        limit_ns = std::min(limit_ns, choice->cost_ns * repeating + kEqualNs);
        const auto [at, is_first] = cheapest.try_emplace(choice->parts, *choice);
        if (!is_first && choice->cost_ns < at->second.cost_ns - kEqualNs) {
          at->second = std::move(*choice);
        }
      }
      std::optional<OpChoice> best;
      for (auto& [parts, each] : cheapest) {
        if (!best || worth(*best, each)) best = std::move(each);
      }
      return best;
    };
    std::optional<OpChoice> best = cheapest_of(0, all.suggested, std::nullopt);
    if (!best) return best;
    std::optional<OpChoice> tried = cheapest_of(all.suggested, all.axes.size(), best);
    return tried ? tried : best;
  };
  std::optional<OpChoice> best = best_of(nullptr);
  if (partial) {
    std::optional<OpChoice> delayed = best_of(&*partial);
    if (delayed && delayed->cost_ns < best->cost_ns - 1e-6) best = std::move(delayed);
  }
  if (rule.shifts.empty()) return *best;
  const ShardingRule moved = with_shifts_cut(rule);
  const auto is_shifted = [&](const FactorCuts& axes) {
    return std::any_of(moved.shifts.begin(), moved.shifts.end(), [&](const auto& shift) {
      return !axes[static_cast<size_t>(shift.to)].empty();
    });
  };
  for (const FactorCuts& axes : candidates(instruction, moved).axes) {
    if (!is_shifted(axes)) continue;
    const auto consider = [&](const Partial* consumed) {
      auto choice = evaluate(instruction, moved, axes, consumed, best->cost_ns - kEqualNs);
      if (choice) best = std::move(choice);
    };
    consider(nullptr);
    if (partial) consider(&*partial);
  }
  return *best;
}

}  // namespace hostir
