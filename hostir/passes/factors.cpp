#include "hostir/passes/factors.h"

#include <algorithm>

namespace hostir {

namespace {

size_t at(int factor) { return static_cast<size_t>(factor); }

// The size of a factor, or -1 if it is unknown. A factor of unknown size is never split inside a
// dimension.
int64_t known_size(const ShardingRule& rule, int factor) {
  const IndexExpr size = rule.factor_sizes[at(factor)].simplified();
  return size.is_const() ? size.value() : -1;
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
bool splits_unevenly(const Mesh& mesh, const AxisList& major, const AxisList& minor, int64_t size) {
  if (major.empty() || minor.empty() || minor.front().whole()) return false;
  const AxisRef& a = major.back();
  const AxisRef& b = minor.front();
  const bool adjacent = a.name == b.name && !a.whole() && a.pre * a.size == b.pre;
  return adjacent && size % part_count(mesh, minor) != 0;
}

void project_compound(const Mesh& mesh, const ShardingRule& rule,
                      const ShardingRule::DimFactors& dim, AxisList axes, FactorAxes& out) {
  AxisList major;
  for (size_t i = 0; i < dim.size() && !axes.empty(); ++i) {
    const int64_t size = known_size(rule, dim[i]);
    if (size < 0) return;
    if (minor_size(rule, dim, i) == 1) {
      if (!splits_unevenly(mesh, major, axes, size)) out[at(dim[i])] = axes;
      return;
    }
    const AxisList taken = dividing_prefix(mesh, axes, size);
    out[at(dim[i])] = taken;
    if (part_count(mesh, taken) != size) return;
    axes = suffix_after(mesh, axes, taken);
    major = joined(mesh, major, taken);
  }
}

AxisList assemble_compound(const Mesh& mesh, const ShardingRule& rule,
                           const ShardingRule::DimFactors& dim, const FactorAxes& axes) {
  AxisList out;
  for (size_t i = 0; i < dim.size(); ++i) {
    const int64_t size = known_size(rule, dim[i]);
    if (size < 0) return out;
    const bool minor_most = minor_size(rule, dim, i) == 1;
    const AxisList& mine = axes[at(dim[i])];
    if (minor_most && splits_unevenly(mesh, out, mine, size)) return out;
    const AxisList kept = minor_most ? mine : dividing_prefix(mesh, mine, size);
    out = joined(mesh, out, kept);
    if (minor_most || part_count(mesh, kept) != size) return out;
  }
  return out;
}

// The part of `axes` that the tensor can express.
FactorAxes expressible(const Mesh& mesh, const ShardingRule& rule,
                       const std::vector<ShardingRule::DimFactors>& tensor,
                       const FactorAxes& axes) {
  const FactorAxes seen = project(mesh, rule, tensor, assemble(mesh, rule, tensor, axes));
  FactorAxes out = axes;
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (has_factor(tensor, f)) out[at(f)] = common_prefix(mesh, axes[at(f)], seen[at(f)]);
  }
  return out;
}

}  // namespace

bool has_factor(const std::vector<ShardingRule::DimFactors>& tensor, int factor) {
  return std::any_of(tensor.begin(), tensor.end(), [&](const ShardingRule::DimFactors& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

FactorAxes project(const Mesh& mesh, const ShardingRule& rule,
                   const std::vector<ShardingRule::DimFactors>& tensor,
                   const std::vector<DimSharding>& dims) {
  FactorAxes out(rule.factor_sizes.size());
  for (size_t d = 0; d < tensor.size() && d < dims.size(); ++d) {
    const AxisList axes = merged_axes(mesh, dims[d].axes);
    if (tensor[d].size() == 1) {
      out[at(tensor[d].front())] = axes;
    } else {
      project_compound(mesh, rule, tensor[d], axes, out);
    }
  }
  return out;
}

std::vector<DimSharding> assemble(const Mesh& mesh, const ShardingRule& rule,
                                  const std::vector<ShardingRule::DimFactors>& tensor,
                                  const FactorAxes& axes) {
  std::vector<DimSharding> out(tensor.size());
  for (size_t d = 0; d < tensor.size(); ++d) {
    if (tensor[d].size() == 1) {
      out[d].axes = axes[at(tensor[d].front())];
    } else {
      out[d].axes = assemble_compound(mesh, rule, tensor[d], axes);
    }
  }
  return out;
}

FactorAxes legalized(const Mesh& mesh, const ShardingRule& rule, FactorAxes axes) {
  AxisList used;
  for (int f = 0; f < rule.factor_count(); ++f) {
    AxisList& mine = axes[at(f)];
    if (rule.must_replicate(f)) mine.clear();
    mine = prefix_avoiding(mesh, mine, used);
    used.insert(used.end(), mine.begin(), mine.end());
  }
  // Terminates because each round only shortens the lists.
  for (FactorAxes before; before != axes;) {
    before = axes;
    for (const auto& tensor : rule.operands) axes = expressible(mesh, rule, tensor, axes);
    for (const auto& tensor : rule.results) axes = expressible(mesh, rule, tensor, axes);
  }
  return axes;
}

AxisList reduced_axes(const Mesh& mesh, const ShardingRule& rule, const FactorAxes& axes) {
  AxisList out;
  for (const int f : rule.reduction) out = joined(mesh, out, axes[at(f)]);
  return out;
}

}  // namespace hostir
