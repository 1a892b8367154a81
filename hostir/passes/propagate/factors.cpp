#include "hostir/passes/propagate/factors.h"

#include <algorithm>
#include <numeric>

#include "hostir/ops/partial_results.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

size_t at(int factor) { return static_cast<size_t>(factor); }

// True if the axes cut `size` elements (-1: unknown) at the same places with either unit.
bool same_places(const Mesh& mesh, const AxisList& axes, int64_t a, int64_t b, int64_t size) {
  if (a == b) return true;
  if (size < 0) return false;
  if (size % (part_count(mesh, axes) * std::lcm(a, b)) == 0) return true;
  DimSharding dim{axes};
  dim.unit = a;
  const std::vector<Range> parts = parts_of(mesh, dim, size);
  dim.unit = b;
  return parts == parts_of(mesh, dim, size);
}

// The longest prefix of `axes` whose part count divides `n`; axes are split where the cuts nest.
AxisList dividing_prefix(const Mesh& mesh, const AxisList& axes, int64_t n) {
  AxisList out;
  int64_t left = n;
  for (const AxisRef& a : axes) {
    const int64_t k = mesh.axis_size(a);
    if (left > 0 && left % k == 0) {
      out = joined(mesh, out, {a});
      left /= k;
      continue;
    }
    if (left > 1 && k % left == 0) out = joined(mesh, out, {{a.name, a.pre, left}});
    break;
  }
  return out;
}

// The product of the sizes of the factors after `index`; -1 if one is unknown.
int64_t minor_size(const ShardingRule& rule, const ShardingRule::DimFactors& dim, size_t index) {
  int64_t n = 1;
  for (size_t i = index + 1; i < dim.size(); ++i) {
    const int64_t size = known_size(rule, dim[i]);
    if (size < 0) return -1;
    n *= size;
  }
  return n;
}

// Sub-axes of one axis are merged before cutting. If an axis is split between two factors, both
// forms give the same boxes only if the minor factor is cut evenly.
bool splits_unevenly(const Mesh& mesh, const AxisList& major, const FactorCut& minor,
                     int64_t size) {
  if (major.empty() || minor.empty() || minor.axes.front().whole()) return false;
  const AxisRef& a = major.back();
  const AxisRef& b = minor.axes.front();
  const bool adjacent = a.name == b.name && !a.whole() && a.pre * a.size == b.pre;
  return adjacent && size % (part_count(mesh, minor.axes) * minor.unit) != 0;
}

// `dim` is cut over `axes` between runs of `unit` elements.
void project_compound(const Mesh& mesh, const ShardingRule& rule,
                      const ShardingRule::DimFactors& dim, AxisList axes, int64_t unit,
                      Borders borders, FactorCuts& out) {
  AxisList major;
  for (size_t i = 0; i < dim.size() && !axes.empty(); ++i) {
    const int64_t size = known_size(rule, dim[i]);
    const int64_t minor = minor_size(rule, dim, i);
    if (size < 1 || minor < 1) return;
    const auto end_with = [&](int64_t runs) {  // the factors after this one are whole
      const FactorCut cut = cut_over(mesh, axes, runs, size);
      if (!splits_unevenly(mesh, major, cut, size)) out[at(dim[i])] = cut;
    };
    if (unit % minor == 0) return end_with(unit / minor);
    const AxisList taken = dividing_prefix(mesh, axes, size);
    if (taken != axes && part_count(mesh, taken) != size) {
      const int64_t runs = std::lcm(unit, minor);
      if (same_places(mesh, axes, unit, runs, size * minor)) return end_with(runs / minor);
      if (borders == Borders::kNearby && size > 1) return end_with(1);
    }
    if (minor % unit != 0) return;
    out[at(dim[i])] = {taken, 1};
    if (part_count(mesh, taken) != size) return;
    axes = suffix_after(mesh, axes, taken);
    major = joined(mesh, major, taken);
  }
}

DimSharding assemble_compound(const Mesh& mesh, const ShardingRule& rule,
                              const ShardingRule::DimFactors& dim, const FactorCuts& cuts) {
  DimSharding out;
  for (size_t i = 0; i < dim.size(); ++i) {
    const int64_t size = known_size(rule, dim[i]);
    const int64_t minor = minor_size(rule, dim, i);
    const FactorCut& mine = cuts[at(dim[i])];
    if (size < 1 || minor < 1 || splits_unevenly(mesh, out.axes, mine, size)) return out;
    out.axes = joined(mesh, out.axes, mine.axes);
    if (minor == 1 || size % (part_count(mesh, mine.axes) * mine.unit) != 0) {
      if (!mine.empty()) out.unit = mine.unit * minor;
      return out;
    }
    if (part_count(mesh, mine.axes) != size) return out;
  }
  return out;
}

// The part of `cuts` that the tensor can express.
FactorCuts expressible(const Mesh& mesh, const ShardingRule& rule,
                       const std::vector<ShardingRule::DimFactors>& tensor,
                       const FactorCuts& cuts) {
  const FactorCuts seen = project(mesh, rule, tensor, assemble(mesh, rule, tensor, cuts));
  FactorCuts out = cuts;
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (!has_factor(tensor, f)) continue;
    out[at(f)] = common_prefix(mesh, cuts[at(f)], seen[at(f)], known_size(rule, f));
  }
  return out;
}

}  // namespace

FactorCut cut_over(const Mesh& mesh, AxisList axes, int64_t unit, int64_t size) {
  if (axes.empty() || same_places(mesh, axes, unit, 1, size)) unit = 1;
  return {std::move(axes), unit};
}

bool is_prefix(const Mesh& mesh, const FactorCut& prefix, const FactorCut& cut, int64_t size) {
  if (prefix.empty()) return true;
  if (!is_prefix(mesh, prefix.axes, cut.axes)) return false;
  return same_places(mesh, prefix.axes, prefix.unit, cut.unit, size);
}

FactorCut common_prefix(const Mesh& mesh, const FactorCut& a, const FactorCut& b, int64_t size) {
  FactorCut out = {common_prefix(mesh, a.axes, b.axes), a.unit};
  while (!out.empty() && !same_places(mesh, out.axes, a.unit, b.unit, size)) out.axes.pop_back();
  return cut_over(mesh, std::move(out.axes), out.unit, size);
}

FactorCut prefix_avoiding(const Mesh& mesh, const FactorCut& cut, const AxisList& used,
                          int64_t size) {
  return cut_over(mesh, prefix_avoiding(mesh, cut.axes, used), cut.unit, size);
}

int64_t known_size(const ShardingRule& rule, int factor) {
  const IndexExpr size = rule.factor_sizes[at(factor)].simplified();
  return size.is_const() ? size.value() : -1;
}

bool has_factor(const std::vector<ShardingRule::DimFactors>& tensor, int factor) {
  return std::any_of(tensor.begin(), tensor.end(),
                     [&](const ShardingRule::DimFactors& dim) { return contains(dim, factor); });
}

bool is_merged(const std::vector<ShardingRule::DimFactors>& tensor, int factor) {
  return std::any_of(tensor.begin(), tensor.end(), [&](const ShardingRule::DimFactors& dim) {
    return dim.size() > 1 && contains(dim, factor);
  });
}

FactorCuts project(const Mesh& mesh, const ShardingRule& rule,
                   const std::vector<ShardingRule::DimFactors>& tensor,
                   const std::vector<DimSharding>& dims, Borders borders) {
  FactorCuts out(rule.factor_sizes.size());
  for (size_t d = 0; d < tensor.size() && d < dims.size(); ++d) {
    AxisList axes = merged_axes(mesh, dims[d].axes);
    if (axes.empty()) continue;
    if (tensor[d].size() == 1) {
      const int factor = tensor[d].front();
      out[at(factor)] = cut_over(mesh, std::move(axes), dims[d].unit, known_size(rule, factor));
    } else {
      project_compound(mesh, rule, tensor[d], std::move(axes), dims[d].unit, borders, out);
    }
  }
  return out;
}

std::vector<DimSharding> assemble(const Mesh& mesh, const ShardingRule& rule,
                                  const std::vector<ShardingRule::DimFactors>& tensor,
                                  const FactorCuts& cuts) {
  std::vector<DimSharding> out(tensor.size());
  for (size_t d = 0; d < tensor.size(); ++d) {
    if (tensor[d].size() == 1) {
      const FactorCut& cut = cuts[at(tensor[d].front())];
      out[d].axes = cut.axes;
      out[d].unit = cut.unit;
    } else {
      DimSharding dim = assemble_compound(mesh, rule, tensor[d], cuts);
      if (dim.unit != 1) {
        const int64_t size = known_size(rule, tensor[d].front()) * minor_size(rule, tensor[d], 0);
        dim.unit = cut_over(mesh, dim.axes, dim.unit, size).unit;
      }
      out[d] = std::move(dim);
    }
  }
  return out;
}

FactorCuts legalized(const Mesh& mesh, const ShardingRule& rule, FactorCuts cuts) {
  AxisList used;
  for (int f = 0; f < rule.factor_count(); ++f) {
    FactorCut& mine = cuts[at(f)];
    if (rule.must_replicate(f)) mine = {};
    mine = prefix_avoiding(mesh, mine, used, known_size(rule, f));
    used.insert(used.end(), mine.axes.begin(), mine.axes.end());
  }
  // Terminates because each round only shortens the lists.
  for (FactorCuts before; before != cuts;) {
    before = cuts;
    for (const auto& tensor : rule.operands) cuts = expressible(mesh, rule, tensor, cuts);
    for (const auto& tensor : rule.results) cuts = expressible(mesh, rule, tensor, cuts);
  }
  return cuts;
}

AxisList axes_of(const FactorCuts& cuts) {
  AxisList out;
  for (const FactorCut& cut : cuts) out.insert(out.end(), cut.axes.begin(), cut.axes.end());
  return out;
}

AxisList reduced_axes(const Mesh& mesh, const ShardingRule& rule, const FactorCuts& cuts,
                      size_t result) {
  AxisList out;
  for (const int f : rule.reduction) {
    if (leaves_partial(rule, f, result)) out = joined(mesh, out, cuts[at(f)].axes);
  }
  return out;
}

}  // namespace hostir
