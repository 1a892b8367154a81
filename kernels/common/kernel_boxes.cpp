#include "kernels/common/kernel_boxes.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "hostir/support/union_find.h"
#include "kernels/common/shifted_dims.h"

namespace hostir::kernels {

namespace {

using MaybeRange = std::optional<Range>;

// One op's rule with the ranges of its factors.
class Factors {
 public:
  Factors(const ShardingRule& rule, const std::vector<int64_t>& sizes)
      : rule_(rule), sizes_(sizes), ranges_(sizes.size()) {
    for (size_t f = 0; f < sizes_.size(); ++f) {
      if (rule_.must_replicate(static_cast<int>(f))) ranges_[f] = whole(f);
    }
  }

  // Learns from the known range of a dimension of `extent`; false on a contradiction. A factor that
  // must be whole may have another size in the result (slice, concat): whole stays whole. An empty
  // range of several factors means that one of them is empty, but not which; `guess()` decides
  // later.
  bool learn(const ShardingRule::DimFactors& dim, const MaybeRange& known, int64_t extent) {
    if (!known || (*known == Range{0, extent} && is_kept_whole(dim))) return true;
    if (dim.size() > 1 && known->lo == known->hi) return true;
    return split(dim, *known);
  }

  // Learns from a part of a result's dimension; ignores factors that must be whole.
  bool learn_part(const ShardingRule::DimFactors& dim, Range part) {
    return is_kept_whole(dim) || split(dim, part);
  }

  bool is_kept_whole(const ShardingRule::DimFactors& dim) const {
    return std::all_of(dim.begin(), dim.end(), [&](int f) { return rule_.must_replicate(f); });
  }

  // Decides what an empty dimension leaves open, after all others have been used.
  void guess(const ShardingRule::DimFactors& dim, const MaybeRange& known) {
    if (!known || dim.size() < 2 || known->lo != known->hi) return;
    const bool open = std::any_of(dim.begin(), dim.end(),
                                  [&](int f) { return !ranges_[static_cast<size_t>(f)]; });
    if (open) static_cast<void>(split(dim, *known));
  }
  // The range of a dimension; nullopt while a factor is unknown. `ok` is false if the elements are
  // not one range.
  MaybeRange range(const ShardingRule::DimFactors& dim, int64_t extent, bool& ok) const {
    // In slice and concat, a factor that must be whole has another size in the result, and is whole
    // there too.
    if (dim.empty() || is_kept_whole(dim)) return Range{0, extent};
    Range out{0, 1};
    bool single = true;  // all factors so far are single indices
    for (const int index : dim) {
      const auto f = static_cast<size_t>(index);
      if (!ranges_[f]) return std::nullopt;
      const Range r = *ranges_[f];
      if (!single && r != whole(f)) ok = false;
      out = {out.lo * sizes_[f] + (single ? r.lo : 0),
             single ? out.lo * sizes_[f] + r.hi : out.hi * sizes_[f]};
      single = single && r.hi - r.lo == 1;
    }
    return out;
  }

 private:
  // Splits a range of a dimension into ranges of its factors, major to minor.
  bool split(const ShardingRule::DimFactors& dim, Range range) {
    for (size_t i = 0; i < dim.size(); ++i) {
      const auto f = static_cast<size_t>(dim[i]);
      const int64_t rest = size_behind(dim, i);
      const int64_t inner = rest == 0 ? 1 : rest;
      if (range.lo % inner == 0 && range.hi % inner == 0) {
        if (!set(f, {range.lo / inner, range.hi / inner})) return false;
        for (size_t j = i + 1; j < dim.size(); ++j) {
          const auto g = static_cast<size_t>(dim[j]);
          if (!set(g, whole(g))) return false;
        }
        return true;
      }
      const int64_t at = range.lo / inner;
      if (range.hi > (at + 1) * inner || !set(f, {at, at + 1})) return false;
      range = {range.lo - at * inner, range.hi - at * inner};
    }
    return true;
  }
  Range whole(size_t f) const { return {0, sizes_[f]}; }
  int64_t size_behind(const ShardingRule::DimFactors& dim, size_t i) const {
    int64_t size = 1;
    for (size_t j = i + 1; j < dim.size(); ++j) size *= sizes_[static_cast<size_t>(dim[j])];
    return size;
  }
  bool set(size_t f, Range range) {
    if (!ranges_[f]) {
      ranges_[f] = range;
      return true;
    }
    const bool both_empty = ranges_[f]->lo == ranges_[f]->hi && range.lo == range.hi;
    return both_empty || *ranges_[f] == range;
  }

  const ShardingRule& rule_;
  const std::vector<int64_t>& sizes_;
  std::vector<MaybeRange> ranges_;
};

struct Tensors {
  std::vector<ValueId> values;  // operands, then results
  ShardingRule rule;
  std::vector<int64_t> sizes;
};

Expected<std::optional<Tensors>> rule_of(const Program& program, const Function& kernel,
                                         const Instruction& instruction,
                                         const std::vector<Type>& types) {
  const OpRecord& op = record(instruction.kind);
  if (op.rule == nullptr) return std::optional<Tensors>{};
  Tensors out;
  std::vector<Type> operands;
  std::vector<Type> results;
  for (const Operand& operand : instruction.operands) {
    if (!operand.value.valid()) continue;
    out.values.push_back(operand.value);
    operands.push_back(types[operand.value.index]);
  }
  for (const ValueId result : instruction.results) {
    out.values.push_back(result);
    results.push_back(types[result.index]);
  }
  const OpCall call{instruction.kind, operands, instruction.attributes, &instruction, &kernel,
                    &program,         results};
  HOSTIR_ASSIGN_OR_RETURN(out.rule, op.rule(call, results));
  for (const IndexExpr& size : out.rule.factor_sizes) {
    HOSTIR_ASSIGN_OR_RETURN(const int64_t value, size.evaluate({}));
    out.sizes.push_back(value);
  }
  return std::optional<Tensors>{std::move(out)};
}

tl::unexpected<Error> contradiction(const Function& kernel, const Instruction& instruction,
                                    const std::string& why) {
  return fail_at(ErrorKind::kRuntime, "kernel_box",
                 fmt::format("kernel @{}: the parts that this rank holds of the operands and "
                             "results of {} do not fit together: {}",
                             kernel.name, record(instruction.kind).mnemonic, why),
                 instruction.span);
}

// `it holds 0:4 of 8 in dimension 1 of %a`
std::string held_text(const Function& kernel, ValueId value, size_t d, Range range,
                      int64_t extent) {
  return fmt::format("it holds {}:{} of {} in dimension {} of %{}", range.lo, range.hi, extent, d,
                     kernel.value(value).name);
}

// Why dimension `d` of the tensor at `i` does not fit: the op needs all of it, or this rank
// holds a different part of a dimension that shares a factor with it.
std::string misfit_text(const Function& kernel, const Tensors& t, const std::vector<Type>& types,
                        const ValueRanges& ranges, size_t i, size_t d) {
  const auto dims = [&](size_t k) -> const ShardingRule::TensorFactors& {
    return k < t.rule.operands.size() ? t.rule.operands[k]
                                      : t.rule.results[k - t.rule.operands.size()];
  };
  const auto text = [&](size_t k, size_t e) {
    const ValueId value = t.values[k];
    return held_text(kernel, value, e, *ranges[value.index][e],
                     shape_of(types[value.index])[e].value());
  };
  const std::string own = text(i, d);
  for (const int f : dims(i)[d]) {
    if (t.rule.must_replicate(f)) return own + ", and the op needs all of it";
  }
  for (size_t k = 0; k <= i; ++k) {
    const auto& known = ranges[t.values[k].index];
    for (size_t e = 0; e < dims(k).size() && e < known.size(); ++e) {
      const bool same = std::any_of(dims(k)[e].begin(), dims(k)[e].end(),
                                    [&](int f) { return contains(dims(i)[d], f); });
      if (!same || !known[e] || (k == i && e == d) || known[e] == ranges[t.values[i].index][d])
        continue;
      return text(k, e) + " and" + own.substr(own.find(" holds") + 6);
    }
  }
  return own;
}

// Checks that the operands hold what the result needs along shifted dimensions. With `guess`,
// chooses ranges that nothing else determines: for an operand, the part that the result needs; for
// the result, the part that all operands cover together.
Expected<void> visit_shifts(const Function& kernel, const Instruction& instruction,
                            const Tensors& t, const std::vector<Type>& types, ValueRanges& ranges,
                            bool guess, bool& changed) {
  if (t.rule.shifts.empty()) return {};
  const ValueId result = t.values[t.rule.operands.size()];
  std::vector<MaybeRange> made(t.rule.results.front().size());
  std::vector<bool> complete(made.size(), true);
  for (const ShiftedDim& s : shifted_dims(t.rule)) {
    const ValueId operand = t.values[s.shift->operand];
    const int64_t size = shape_of(types[operand.index])[s.operand_dim].value();
    const int64_t result_size = shape_of(types[result.index])[s.result_dim].value();
    MaybeRange& held = ranges[operand.index][s.operand_dim];
    const MaybeRange& wanted = ranges[result.index][s.result_dim];
    if (wanted && !held && guess) {
      held = needed_of(s, *wanted, size);
      changed = true;
    }
    if (wanted && held) {
      const Range needed = needed_of(s, *wanted, size);
      if (needed.lo == needed.hi || (held->lo <= needed.lo && needed.hi <= held->hi)) continue;
      return contradiction(kernel, instruction,
                           fmt::format("{}, and its part of the result needs {}:{}",
                                       held_text(kernel, operand, s.operand_dim, *held, size),
                                       needed.lo, needed.hi));
    }
    if (!held) complete[s.result_dim] = false;
    if (wanted || !held || held->lo == held->hi) continue;
    if (s.shift->wraps) {
      made[s.result_dim] = rolled(*held, -s.by, size);
      continue;
    }
    Range image = s.shift->mirrored ? Range{s.by - held->hi + 1, s.by - held->lo + 1}
                                    : Range{held->lo - s.by, held->hi - s.by};
    if (t.rule.operands.size() == 1 && held->lo == 0 && !s.shift->mirrored) image.lo = 0;
    if (t.rule.operands.size() == 1 && held->hi == size && !s.shift->mirrored)
      image.hi = result_size;
    image = clipped(image, result_size);
    MaybeRange& all = made[s.result_dim];
    all = all ? Range{std::min(all->lo, image.lo), std::max(all->hi, image.hi)} : image;
  }
  for (size_t d = 0; guess && d < made.size(); ++d) {
    MaybeRange& known = ranges[result.index][d];
    if (known || !complete[d] || !is_shifted(t.rule, t.rule.results.front()[d])) continue;
    known = made[d].value_or(Range{0, 0});
    changed = true;
  }
  return {};
}

// Visits one op; sets `changed` if a range was found.
Expected<void> visit(const Function& kernel, const Instruction& instruction, const Tensors& t,
                     const std::vector<Type>& types, ValueRanges& ranges, bool& changed) {
  Factors factors(t.rule, t.sizes);
  const auto dims = [&](size_t i) -> const ShardingRule::TensorFactors& {
    return i < t.rule.operands.size() ? t.rule.operands[i]
                                      : t.rule.results[i - t.rule.operands.size()];
  };
  for (size_t i = 0; i < t.values.size(); ++i) {
    const auto& known = ranges[t.values[i].index];
    const Shape& shape = shape_of(types[t.values[i].index]);
    for (size_t d = 0; d < dims(i).size() && d < known.size(); ++d) {
      if (is_shifted(t.rule, dims(i)[d])) continue;
      if (!factors.learn(dims(i)[d], known[d], shape[d].value()))
        return contradiction(kernel, instruction, misfit_text(kernel, t, types, ranges, i, d));
    }
  }
  for (size_t i = 0; i < t.values.size(); ++i) {
    const auto& known = ranges[t.values[i].index];
    for (size_t d = 0; d < dims(i).size() && d < known.size(); ++d)
      factors.guess(dims(i)[d], known[d]);
  }
  for (size_t i = 0; i < t.values.size(); ++i) {
    auto& known = ranges[t.values[i].index];
    const Shape& shape = shape_of(types[t.values[i].index]);
    for (size_t d = 0; d < dims(i).size() && d < known.size(); ++d) {
      if (known[d] || is_shifted(t.rule, dims(i)[d])) continue;
      bool ok = true;
      known[d] = factors.range(dims(i)[d], shape[d].value(), ok);
      if (!ok) {
        return contradiction(kernel, instruction,
                             fmt::format("its part is not a single range of dimension {} of %{}", d,
                                         kernel.value(t.values[i]).name));
      }
      changed = changed || known[d].has_value();
    }
  }
  return {};
}

using Rules = std::vector<std::pair<const Instruction*, Tensors>>;

// Repeats the rules until nothing changes. With `guess`, also what `visit_shifts` guesses.
Expected<void> apply_rules(const Function& kernel, const Rules& rules,
                           const std::vector<Type>& types, ValueRanges& ranges, bool guess) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const auto& [instruction, tensors] : rules) {
      HOSTIR_TRY(visit(kernel, *instruction, tensors, types, ranges, changed));
      HOSTIR_TRY(visit_shifts(kernel, *instruction, tensors, types, ranges, false, changed));
    }
    for (const auto& [instruction, tensors] : rules) {
      if (changed || !guess) break;
      HOSTIR_TRY(visit_shifts(kernel, *instruction, tensors, types, ranges, true, changed));
    }
  }
  return {};
}

// True if the rules allow every unknown range to be the whole dimension.
bool may_be_whole(const Function& kernel, const Rules& rules, const std::vector<Type>& types,
                  ValueRanges ranges) {
  for (size_t v = 0; v < ranges.size(); ++v) {
    for (size_t d = 0; d < ranges[v].size(); ++d) {
      if (!ranges[v][d]) ranges[v][d] = Range{0, shape_of(types[v])[d].value()};
    }
  }
  return apply_rules(kernel, rules, types, ranges, false).has_value();
}

}  // namespace

Expected<void> propagate_ranges(const Program& program, const Function& kernel,
                                const std::vector<Type>& types, ValueRanges& ranges) {
  Rules rules;
  for (const InstrId id : kernel.preorder()) {
    const Instruction& instruction = kernel.instr(id);
    HOSTIR_ASSIGN_OR_RETURN(auto tensors, rule_of(program, kernel, instruction, types));
    if (tensors) rules.emplace_back(&instruction, std::move(*tensors));
  }
  HOSTIR_TRY(apply_rules(kernel, rules, types, ranges, false));
  // A guess fits one use of a value; another use may need more of it. So values that can be whole
  // stay whole.
  if (may_be_whole(kernel, rules, types, ranges)) return {};
  return apply_rules(kernel, rules, types, ranges, true);
}

namespace {

// The kernel's types with the sizes of the placements.
std::vector<Type> placed_types(const Function& kernel, const std::vector<Placement>& values) {
  std::vector<Type> types;
  for (size_t v = 0; v < values.size(); ++v) {
    TensorType type = std::get<TensorType>(kernel.values[v].type);
    type.shape.clear();
    for (const int64_t size : values[v].global) type.shape.emplace_back(size);
    types.emplace_back(std::move(type));
  }
  return types;
}

}  // namespace

Expected<std::vector<Box>> operand_boxes(const Program& program, const Function& kernel,
                                         const Instruction& instruction,
                                         const std::vector<Placement>& values, size_t result,
                                         const Box& box) {
  std::vector<Box> out;
  for (const Operand& operand : instruction.operands) {
    out.push_back(operand.value.valid() ? values[operand.value.index].box : Box{});
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto tensors,
                          rule_of(program, kernel, instruction, placed_types(kernel, values)));
  if (!tensors || result >= tensors->rule.results.size()) return out;
  Factors factors(tensors->rule, tensors->sizes);
  const ShardingRule::TensorFactors& made = tensors->rule.results[result];
  for (size_t d = 0; d < made.size() && d < box.lo.size(); ++d) {
    if (!factors.learn_part(made[d], Range{box.lo[d], box.hi[d]})) return out;
  }
  size_t i = 0;  // among the operands that are present
  for (size_t o = 0; o < out.size(); ++o) {
    if (!instruction.operands[o].value.valid()) continue;
    const ShardingRule::TensorFactors& read = tensors->rule.operands[i++];
    const Box held = out[o];
    for (size_t d = 0; d < read.size() && d < held.lo.size(); ++d) {
      if (read[d].empty() || factors.is_kept_whole(read[d])) continue;
      bool ok = true;
      const MaybeRange range =
          factors.range(read[d], values[instruction.operands[o].value.index].global[d], ok);
      if (!range || !ok) continue;
      out[o].lo[d] = std::clamp(range->lo, held.lo[d], held.hi[d]);
      out[o].hi[d] = std::clamp(range->hi, out[o].lo[d], held.hi[d]);
    }
  }
  return out;
}

namespace {

// True if the op does the same work at any position along its factors.
bool is_same_everywhere(const OpRecord& op) {
  const auto is_seed = [](const AttributeSpec& a) { return a.name == "seed"; };
  switch (op.shape) {
    case OpShape::kPointwise:
    case OpShape::kBroadcast:
    case OpShape::kReduction:
    case OpShape::kContraction:
      return std::none_of(op.attributes.begin(), op.attributes.end(), is_seed);
    default:
      return false;
  }
}

// True if each dimension of the operands is also one of the results. False for most reshapes,
// slices and concats, where the position of an element determines its source.
bool maps_dims(const Tensors& t) {
  const auto is_in_result = [&](int factor) {
    for (const auto& dims : t.rule.results) {
      for (const auto& factors : dims) {
        if (factors.size() == 1 && factors.front() == factor) return true;
      }
    }
    return false;
  };
  for (const auto& dims : t.rule.operands) {
    for (const auto& factors : dims) {
      if (factors.empty()) continue;  // of extent 1
      if (factors.size() > 1 || t.rule.must_replicate(factors.front()) ||
          !is_in_result(static_cast<int>(factors.front()))) {
        return false;
      }
    }
  }
  return true;
}

// Joins the dimensions that share a factor. Groups are numbered by their first member.
class DimGroups {
 public:
  explicit DimGroups(const std::vector<Placement>& values) {
    size_t dims = 0;
    for (const Placement& value : values) {
      first_.push_back(dims);
      dims += value.global.size();
    }
    sets_ = UnionFind(dims);
    fixed_.assign(dims, false);
  }

  // False where one dimension has several factors.
  bool join(const Tensors& t) {
    std::vector<std::optional<size_t>> dim_of(t.sizes.size());
    for (size_t i = 0; i < t.values.size(); ++i) {
      const auto& dims = i < t.rule.operands.size() ? t.rule.operands[i]
                                                    : t.rule.results[i - t.rule.operands.size()];
      for (size_t d = 0; d < dims.size(); ++d) {
        const size_t at = first_[t.values[i].index] + d;
        if (dims[d].size() > 1) return false;
        if (dims[d].empty() || t.rule.must_replicate(dims[d].front())) {
          fixed_[sets_.root(at)] = true;
          continue;
        }
        auto& other = dim_of[static_cast<size_t>(dims[d].front())];
        if (other) unite(*other, at);
        other = at;
      }
    }
    return true;
  }

  std::vector<std::vector<int>> numbers(const std::vector<Placement>& values) {
    std::vector<std::vector<int>> out(values.size());
    for (size_t v = 0; v < values.size(); ++v) {
      for (size_t d = 0; d < values[v].global.size(); ++d) {
        const size_t group = sets_.root(first_[v] + d);
        out[v].push_back(fixed_[group] ? -1 : static_cast<int>(group));
      }
    }
    return out;
  }

 private:
  void unite(size_t a, size_t b) {
    const auto [first, second] = std::minmax({sets_.root(a), sets_.root(b)});
    if (fixed_[second]) fixed_[first] = true;
    sets_.unite(second, first);
  }

  std::vector<size_t> first_;  // by value
  UnionFind sets_;             // of dimensions
  std::vector<bool> fixed_;
};

}  // namespace

Expected<std::optional<std::vector<std::vector<int>>>> dims_cut_together(
    const Program& program, const Function& kernel, const std::vector<Placement>& values) {
  using Answer = std::optional<std::vector<std::vector<int>>>;
  const std::vector<Type> types = placed_types(kernel, values);
  DimGroups groups(values);
  for (const InstrId id : kernel.preorder()) {
    const Instruction& instruction = kernel.instr(id);
    const OpRecord& op = record(instruction.kind);
    if (op.op_class != OpClass::kCompute) continue;  // the closing `return`
    if (!is_same_everywhere(op)) return Answer{};
    HOSTIR_ASSIGN_OR_RETURN(const auto tensors, rule_of(program, kernel, instruction, types));
    if (!tensors || (op.shape == OpShape::kBroadcast && !maps_dims(*tensors))) return Answer{};
    if (!groups.join(*tensors)) return Answer{};
  }
  return Answer{groups.numbers(values)};
}

}  // namespace hostir::kernels
