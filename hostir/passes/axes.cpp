#include "hostir/passes/axes.h"

#include <algorithm>
#include <optional>

namespace hostir {

namespace {

// The reference with its size written out, so that whole axes and sub-axes are alike.
AxisRef expanded(const Mesh& mesh, AxisRef a) {
  if (a.whole()) {
    a.pre = 1;
    a.size = mesh.axis_size(a);
  }
  return a;
}

AxisList expanded(const Mesh& mesh, const AxisList& list) {
  AxisList out;
  for (const AxisRef& a : list) out.push_back(expanded(mesh, a));
  return out;
}

// Pieces of `a` that lie outside `b`; nullopt if they do not nest.
std::optional<AxisList> pieces_outside(const AxisRef& a, const AxisRef& b) {
  const int64_t a_end = a.pre * a.size;
  const int64_t b_end = b.pre * b.size;
  const int64_t lo = std::max(a.pre, b.pre);
  const int64_t hi = std::min(a_end, b_end);
  if (lo % a.pre != 0 || hi % lo != 0 || a_end % hi != 0) return std::nullopt;
  AxisList out;
  if (lo > a.pre) out.push_back({a.name, a.pre, lo / a.pre});
  if (a_end > hi) out.push_back({a.name, hi, a_end / hi});
  return out;
}

bool overlap_expanded(const AxisRef& a, const AxisRef& b) {
  if (a.name != b.name) return false;
  return std::max(a.pre, b.pre) < std::min(a.pre * a.size, b.pre * b.size);
}

}  // namespace

int64_t part_count(const Mesh& mesh, const AxisList& axes) {
  int64_t n = 1;
  for (const AxisRef& a : axes) n *= mesh.axis_size(a);
  return n;
}

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.name == b.name && a.whole() && b.whole()) return true;  // of size 1, too
  return overlap_expanded(expanded(mesh, a), expanded(mesh, b));
}

bool overlap(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  for (const AxisRef& x : a) {
    for (const AxisRef& y : b) {
      if (overlap(mesh, x, y)) return true;
    }
  }
  return false;
}

AxisList common_prefix(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  const AxisList left = expanded(mesh, a);
  const AxisList right = expanded(mesh, b);
  AxisList out;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const AxisRef& x = left[i];
    const AxisRef& y = right[i];
    if (x == y) {
      out.push_back(x);
      continue;
    }
    if (x.name == y.name && x.pre == y.pre) {
      const int64_t small = std::min(x.size, y.size);
      if (std::max(x.size, y.size) % small == 0) out.push_back({x.name, x.pre, small});
    }
    break;
  }
  return merged_axes(mesh, out);
}

bool is_prefix(const Mesh& mesh, const AxisList& prefix, const AxisList& list) {
  return common_prefix(mesh, prefix, list) == merged_axes(mesh, prefix);
}

AxisList suffix_after(const Mesh& mesh, const AxisList& list, const AxisList& prefix) {
  const AxisList all = expanded(mesh, list);
  const AxisList head = expanded(mesh, prefix);
  AxisList out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < head.size()) {
      const AxisRef& h = head[i];
      if (all[i].size > h.size) out.push_back({h.name, h.pre * h.size, all[i].size / h.size});
    } else {
      out.push_back(all[i]);
    }
  }
  return merged_axes(mesh, out);
}

AxisList prefix_avoiding(const Mesh& mesh, const AxisList& list, const AxisList& used) {
  const AxisList taken = expanded(mesh, used);
  AxisList out;
  for (const AxisRef& ref : expanded(mesh, list)) {
    int64_t end = ref.pre * ref.size;
    bool clash = false;
    for (const AxisRef& u : taken) {
      if (!overlap_expanded(ref, u) && !(ref == u)) continue;
      clash = true;
      end = std::min(end, std::max(u.pre, ref.pre));
    }
    if (!clash) {
      out.push_back(ref);
      continue;
    }
    if (end > ref.pre && end % ref.pre == 0 && (ref.pre * ref.size) % end == 0) {
      out.push_back({ref.name, ref.pre, end / ref.pre});
    }
    break;
  }
  return merged_axes(mesh, out);
}

AxisList without(const Mesh& mesh, const AxisList& list, const AxisList& removed) {
  AxisList current = expanded(mesh, list);
  for (const AxisRef& r : expanded(mesh, removed)) {
    AxisList next;
    for (const AxisRef& a : current) {
      if (a == r) continue;  // also axes of size 1, which overlap nothing
      if (!overlap_expanded(a, r)) {
        next.push_back(a);
        continue;
      }
      if (const auto pieces = pieces_outside(a, r)) {
        next.insert(next.end(), pieces->begin(), pieces->end());
      }
    }
    current = std::move(next);
  }
  return merged_axes(mesh, current);
}

AxisList joined(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  AxisList out = expanded(mesh, a);
  for (const AxisRef& ref : expanded(mesh, b)) out.push_back(ref);
  return merged_axes(mesh, out);
}

bool same_set(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  return part_count(mesh, a) == part_count(mesh, b) && part_count(mesh, without(mesh, a, b)) == 1 &&
         part_count(mesh, without(mesh, b, a)) == 1;
}

AxisList dimension_axes(const Mesh& mesh, const Sharding& sharding) {
  AxisList out;
  for (const DimSharding& d : sharding.dims) {
    for (const AxisRef& a : d.axes) out.push_back(expanded(mesh, a));
  }
  return merged_axes(mesh, out);
}

Sharding canonical(const Mesh& mesh, Sharding sharding) {
  for (DimSharding& d : sharding.dims) {
    d.axes = merged_axes(mesh, expanded(mesh, d.axes));
    d.open = false;
  }
  AxisList unreduced = expanded(mesh, sharding.unreduced);
  std::sort(unreduced.begin(), unreduced.end(), [&](const AxisRef& a, const AxisRef& b) {
    const auto ia = mesh.axis_index(a.name);
    const auto ib = mesh.axis_index(b.name);
    return ia != ib ? ia < ib : a.pre < b.pre;
  });
  sharding.unreduced = merged_axes(mesh, unreduced);
  if (sharding.unreduced.empty()) sharding.unreduced_kind = Reduction::kSum;
  return sharding;
}

Sharding effective(const Mesh& mesh, Sharding sharding) {
  const auto drop_units = [&](AxisList& axes) {
    std::erase_if(axes, [&](const AxisRef& a) { return mesh.axis_size(a) == 1; });
  };
  for (DimSharding& d : sharding.dims) drop_units(d.axes);
  drop_units(sharding.unreduced);
  return canonical(mesh, std::move(sharding));
}

std::string axes_to_string(const AxisList& axes) {
  std::string out = "{";
  for (size_t i = 0; i < axes.size(); ++i) out += (i ? ", " : "") + axes[i].to_string();
  return out + "}";
}

}  // namespace hostir
